from flask import Blueprint
from flask.views import MethodView
BASE = "/api"
orders = Blueprint("orders", __name__, url_prefix=BASE + "/orders")
admin = Blueprint("admin", __name__, url_prefix="/nope")

@orders.route("/", methods=["GET", "POST"])
def list_orders():
    return "x"

@orders.route("/<int:order_id>")
def get_order(order_id):
    return "x"

@orders.delete("/<int:order_id>")
def drop(order_id):
    return "x"

class Refund(MethodView):
    def get(self, order_id): return "x"
    def put(self, order_id): return "x"

orders.add_url_rule("/<int:order_id>/refund", view_func=Refund.as_view("refund"))

@admin.post("/purge")
def purge():
    return "x"
