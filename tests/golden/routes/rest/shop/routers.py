from rest_framework import routers


class ShopRouter(routers.SimpleRouter):
    pass


class BulkRouter(ShopRouter):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.routes[0].mapping.update({"put": "replace_all", "delete": "drop_all"})
