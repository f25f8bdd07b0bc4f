from fastapi import APIRouter
router = APIRouter()

@router.get("")
def list_users(): ...

@router.get("/{user_id}")
def get_user(user_id: int): ...

@router.post("", status_code=201)
def create_user(): ...
