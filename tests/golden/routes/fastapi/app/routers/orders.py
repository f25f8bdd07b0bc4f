import fastapi
router = fastapi.APIRouter(prefix="/orders")
items = fastapi.APIRouter(prefix="/{order_id}/items")

@router.post("/")
async def create_order(): ...

@items.get("/")
async def list_items(order_id: int): ...

class Api:
    def __init__(self):
        self.router = fastapi.APIRouter(prefix="/cls")
        self.router.add_api_route("/x", self.x, methods=["PATCH"])
    def x(self): ...

router.include_router(items)
