from fastapi import FastAPI

from app import orders, users

ROUTERS = (orders.router,)
NAMED = [("/users", users.router), ("/people", users.router)]


class Shop(FastAPI):
    pass


def create_app():
    app = Shop()
    for router in ROUTERS:
        app.include_router(router, prefix="/api")
    for prefix, router in NAMED:
        app.include_router(router, prefix=prefix)
    return app
