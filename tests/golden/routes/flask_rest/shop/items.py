from shop.rest import ShopResource, api

ns = api.namespace("items", "Items")


@ns.route("/<int:number>/")
class Item(ShopResource):
    def put(self, number):
        return {}
