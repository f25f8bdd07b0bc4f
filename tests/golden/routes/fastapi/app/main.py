from fastapi import FastAPI, APIRouter
from app.routers import users, orders as o
from .routers.admin import router as admin_router
from app import health

app = FastAPI()
api = APIRouter(prefix="/api")
v1 = APIRouter()
v1.include_router(users.router, prefix="/users", tags=["u"])
v1.include_router(router=o.router)
api.include_router(v1, prefix="/v1")
api.include_router(admin_router, prefix="/admin")
app.include_router(api)
app.include_router(users.router, prefix="/legacy")
health.setup(app)


@app.get("/")
async def root():
    return {}


@app.websocket("/ws")
async def ws(socket):
    pass


@app.api_route("/any", methods=["GET", "PUT"])
def any_():
    pass
