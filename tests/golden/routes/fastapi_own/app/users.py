from fastapi import Depends

from app.routing import ShopRouter

router = ShopRouter(tags=["users"])


def name_of(token: str = ""):
    return token


@router.get("/me")
def show(name: str = Depends(name_of)):
    return name


def drop(number: int):
    return number


router.delete("/{number}")(drop)
