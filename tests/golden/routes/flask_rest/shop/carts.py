from flask.views import MethodView
from flask_smorest import Blueprint

blp = Blueprint("carts", __name__, url_prefix="/nope")


@blp.route("/")
class Carts(MethodView):
    @blp.response(200)
    def get(self):
        return []

    @blp.response(201)
    def post(self):
        return {}


@blp.route("/<int:number>", methods=["DELETE"])
def drop(number):
    return ""
