from app.routing import ShopRouter

router = ShopRouter(prefix="/orders")


@router.get("")
def list_orders():
    return []


@router.post("/{number}")
def pay(number: int):
    return number
