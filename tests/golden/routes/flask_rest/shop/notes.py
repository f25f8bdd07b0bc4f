from shop.rest import ShopResource, api

ns = api.namespace("nowhere", path="/notes")


@ns.route("/")
class Notes(ShopResource):
    pass
