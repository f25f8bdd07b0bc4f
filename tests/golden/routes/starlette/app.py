from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route, WebSocketRoute, Router

async def home(request): ...
async def users(request): ...
async def user(request): ...
async def ws(socket): ...
class Items:
    pass

user_routes = [Route("/", users), Route("/{name}", user, methods=["PUT", "POST"])]
sub = Router([Route("/in", home)])
routes = [
    Route("/", home),
    Mount("/users", routes=user_routes),
    Mount("/inline", routes=[Route("/deep", endpoint=home), Mount("/er", app=sub)]),
    WebSocketRoute("/ws", ws),
]
app = Starlette(debug=True, routes=routes)
app.add_route("/late", home, ["DELETE"])
