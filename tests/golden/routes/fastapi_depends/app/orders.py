from fastapi import APIRouter

router = APIRouter()
inner = APIRouter()


@router.get("/show")
def show(): ...


@inner.get("/down")
def down(): ...


router.include_router(inner)
