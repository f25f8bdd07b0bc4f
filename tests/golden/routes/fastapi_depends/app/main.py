from typing import Annotated

from fastapi import Depends, FastAPI

from app.orders import router
from app.shared import Paging, Store, allow, auth, get_store, log

app = FastAPI(dependencies=[Depends(log)])
app.include_router(router, prefix="/orders", dependencies=[Depends(auth)])


@app.get("/pages")
def pages(paging: Annotated[Paging, Depends()], store=Depends(get_store)):
    return store.load(paging.size())


@app.get("/pairs")
def pairs(paging: Paging = Depends(), store: Annotated[Store, Depends(get_store)] = None):
    return store.load(paging.size())


@app.get("/sizes", dependencies=[Depends(allow)])
def sizes(paging=Depends(Paging)):
    return paging.size()
