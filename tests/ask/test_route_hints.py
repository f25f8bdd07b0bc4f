"""Paths of routes in questions: a root alone, and a path that no line has as one text."""

import asyncio

import orjson
import pytest

from cortex.ask.exact import exact
from cortex.ask.questions import Exact
from cortex.ask.references.uses import UsesQuestion, uses
from cortex.ask.structure import graph, outline
from ipc.messages import GraphSearch, OutlineSearch

FILES = {
    "app.py": (
        "from flask import Flask\n\nfrom users import bp\n\napp = Flask(__name__)\n"
        "app.register_blueprint(bp, url_prefix='/api/v1')\n\n\n@app.get('/')\ndef home():\n    return 'x'\n"
    ),
    "users.py": (
        "from flask import Blueprint\n\nbp = Blueprint('users', __name__)\n\n\n@bp.get('/users')\ndef list_users():\n    return ''\n"
    ),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("routes")
    for name, text in FILES.items():
        (root / name).write_text(text)
    return serve(root)


def find(served, query, **more):
    answer = asyncio.run(exact(served.context(), Exact(query=query, **more)))
    return orjson.loads(orjson.dumps(answer))


def test_the_root_means_the_handler_of_its_route(served):
    answer = asyncio.run(uses(served.context(), UsesQuestion("/")))
    assert [block["of"] for block in answer["sites"]] == ["home"]


@pytest.mark.parametrize("query", ["/api/v1/users", '"/api/v1/users"', "GET /api/v1/users"])
def test_a_path_that_no_line_has_names_its_route(served, query):
    answer = find(served, query)
    assert answer["results"] == []
    assert answer["suggestion"] == (
        "No line has this text; routes have it: GET /api/v1/users → users:list_users."
    )


@pytest.mark.parametrize("query", ["/users", "/nothing/here", "missing"])
def test_other_texts_have_no_hint_of_routes(served, query):
    assert "routes have it" not in find(served, query)["suggestion"]


def test_a_route_behind_a_computed_prefix_says_so_wherever_it_is_shown(tmp_path, serve):
    (tmp_path / "app.js").write_text(
        "const express = require('express');\nconst orders = require('./orders');\nconst config = require('./config');\n"
        "const app = express();\napp.use(config.prefix(), orders);\napp.listen(1);\n"
    )
    (tmp_path / "orders.js").write_text(
        "const router = require('express').Router();\nrouter.get('/orders', list);\nfunction list() {}\nmodule.exports = router;\n"
    )
    (tmp_path / "config.js").write_text("exports.prefix = () => process.env.PREFIX;\n")
    served = serve(tmp_path)
    listed = asyncio.run(graph(served.context(), GraphSearch("routes", "")))
    row = orjson.loads(orjson.dumps(listed["results"]))[0]
    assert (row["name"], row["computed"]) == ("GET …/orders", "app.js:5")
    entries = asyncio.run(outline(served.context(), OutlineSearch("")))["entry_points"]
    assert [entry["route"] for entry in entries] == ["GET …/orders"]
    used = orjson.dumps(asyncio.run(uses(served.context(), UsesQuestion("list")))).decode()
    assert "GET …/orders" in used
