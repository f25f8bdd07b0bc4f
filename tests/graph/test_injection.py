"""Edges from handlers to the functions that FastAPI calls for their parameters."""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project
from cortex.indexer.store.graph_roots import read_roots
from tests.graph.small_graphs import facts_in
from tests.graph.test_routes import nodes_and_edges

DEPS = (
    "from typing import Annotated\nfrom fastapi import Depends, Security\ndef get_db(): ...\ndef get_token(): ...\n"
    "Db = Annotated[Session, Depends(get_db)]\nToken = Annotated[str, Security(get_token, scopes=['a'])]\n"
    "def get_user(db: Db, token: Token): ...\ndef admin(): ...\nUser = Annotated[Any, Depends(dependency=get_user)]\n"
)
MAIN = (
    "from typing import Annotated\nfrom fastapi import APIRouter, Depends\nimport deps\nfrom deps import Db, User, admin\n"
    "r = APIRouter()\n"
)


def injected(body):
    """`handler → function` of each edge that leads from a function of `body` to one of DEPS."""
    _, edges = nodes_and_edges({"deps.py": DEPS, "main.py": MAIN + body})
    return sorted(
        f"{edge['from']} → {edge['to']}"
        for edge in edges
        if edge["type"] == "references" and edge["from"] not in ("deps", "main")
    )


INNER = ["deps:get_user → deps:get_db", "deps:get_user → deps:get_token"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("@r.get('/a')\ndef a(db: Db, x: int): ...\n", ["main:a → deps:get_db"], id="an alias"),
        pytest.param(
            "@r.get('/a')\ndef a(user: deps.User): ...\n", ["main:a → deps:get_user"], id="a module"
        ),
        pytest.param(
            "@r.get('/a')\ndef a(user: User | None = None, db: 'Db' = 1): ...\n",
            ["main:a → deps:get_db", "main:a → deps:get_user"],
            id="optional and quoted",
        ),
        pytest.param(
            "@r.get('/a', dependencies=[Depends(admin), Depends(deps.get_token)])\ndef a(): ...\n",
            ["main:a → deps:admin", "main:a → deps:get_token"],
            id="a decorator",
        ),
        pytest.param("@r.get('/a')\ndef a(x: Session, y: list[str]): ...\n", [], id="other types"),
    ],
)
def test_a_handler_leads_to_the_functions_that_are_called_for_it(body, expected):
    assert injected(body) == sorted([*INNER, *expected])


def test_an_alias_of_another_function_resolves_the_files_that_use_it():
    texts = {"deps.py": DEPS, "main.py": f"{MAIN}@r.get('/a')\ndef a(db: Db): ...\n"}
    facts = {path: facts_in(path, text) for path, text in texts.items()}
    project = Project(LANGUAGES, read_roots(".", set(facts)))
    project.update(facts)
    new = facts_in("deps.py", DEPS.replace("Depends(get_db)", "Depends(admin)"))
    assert project.update({"deps.py": new}) == {"deps.py", "main.py"}
