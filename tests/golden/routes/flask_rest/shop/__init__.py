from flask import Flask
from flask_restful import Api as RestApi
from flask_smorest import Api as SmorestApi

from shop import items, notes  # noqa: F401
from shop.bills import Bill, Bills
from shop.carts import blp
from shop.pages import about, admin, help_pages, show_terms
from shop.rest import v1

PAGES = (about, admin)


class ShopApp(Flask):
    pass


def create_app():
    app = ShopApp(__name__)
    app.config |= {"API_TITLE": "shop", "API_VERSION": "1", "OPENAPI_VERSION": "3.0.3"}
    app.register_blueprint(v1)
    rest = RestApi(app, prefix="/rest")
    rest.add_resource(Bills, "/bills", "/invoices")
    rest.add_resource(Bill, "/bills/<int:number>", endpoint="bill")
    carts = SmorestApi()
    carts.init_app(app)
    carts.register_blueprint(blp, url_prefix="/carts")
    for page in PAGES:
        app.register_blueprint(page)
    for page, path in [(help_pages, "/help")]:
        app.register_blueprint(page, url_prefix=path)
    app.route("/terms", methods=["GET", "POST"])(show_terms)
    return app
