from fastapi import APIRouter


class ShopRouter(APIRouter):
    def __init__(self, prefix="", tags=None):
        super().__init__(prefix=prefix, tags=tags)
