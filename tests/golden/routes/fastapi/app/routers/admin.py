from fastapi import APIRouter as R
router = R(prefix="/panel")
@router.delete("/cache/{key:path}")
def drop_cache(key: str): ...
