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


ROUTER = {
    "src/app.js": (
        "const express = require('express');\nconst auth = require('./auth');\nconst app = express();\n"
        "app.use('/v1/auth', auth);\nmodule.exports = app;\n"
    ),
    "src/auth.js": (
        "const express = require('express');\nconst users = require('./users');\nconst router = express.Router();\n"
        "router.post('/login', users.login);\nrouter.get('/me', (req, res) => { res.send(req.user); });\n"
        "module.exports = router;\n"
    ),
    "src/users.js": "const login = (req, res) => { res.send('in'); };\nmodule.exports = { login };\n",
    "test/auth.test.js": (
        "const request = require('supertest');\nconst app = require('../src/app');\n"
        "test('login', async () => { await request(app).post('/v1/auth/login').send({}); });\n"
    ),
}


@pytest.fixture(scope="module")
def router(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("router")
    for name, text in ROUTER.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return serve(root)


def test_a_path_that_only_tests_have_names_its_handler(router):
    answer = find(router, "/v1/auth/login")
    assert [row["chunk"]["metadata"]["file_path"] for row in answer["results"]] == ["test/auth.test.js"]
    assert answer["suggestion"].endswith(
        "Only tests have this text; routes have it: POST /v1/auth/login → src/users:login."
    )


def test_the_outline_of_a_file_has_the_routes_whose_handlers_it_does_not_define(router):
    answer = asyncio.run(outline(router.context(), OutlineSearch("src/auth.js")))
    assert [(row["route"], row["handler"]) for row in answer["entry_points"]] == [
        ("POST /v1/auth/login", "login"),
        ("GET /v1/auth/me", ""),
    ]
