from rest_framework import routers


class ShopRouter(routers.SimpleRouter):
    pass
