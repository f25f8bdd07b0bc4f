from flask import Blueprint
from flask_restx import Api, Namespace, Resource

v1 = Blueprint("v1", __name__, url_prefix="/api/v1")


class ShopApi(Api):
    pass


class ShopResource(Resource):
    def get(self):
        return {}


api = ShopApi(v1, version="1", doc="/docs")
orders = Namespace("orders", description="Orders")
users = Namespace("users", path="/nope")
api.add_namespace(orders)
api.add_namespace(users, "/people")


@orders.route("", "/all")
class Orders(ShopResource):
    def post(self):
        return {}


@users.route("/<int:number>")
@users.route("/by-number/<int:number>")
class User(Resource):
    @users.doc("show")
    def get(self, number):
        return {}

    def delete(self, number):
        return {}


@api.route("/ping")
class Ping(ShopResource):
    pass
