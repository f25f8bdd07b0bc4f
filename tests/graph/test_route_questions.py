"""Questions about routes: the route that is meant, its handler, and those that are near."""

from __future__ import annotations

import orjson
import pytest

from cortex.engines.serving import EngineWorker
from cortex.graph.frameworks.join import find_routes, join_routes, read_asked
from cortex.settings.config import Config
from ipc.messages import NameSearch, OutlineSearch
from tests.engines.small_graph import ask, publish, write_graph
from tests.graph.test_routes import FLASK, GOLDEN, nodes_and_edges


def test_a_question_finds_the_most_exact_route():
    nodes, _ = nodes_and_edges(
        {
            "a.py": "from flask import Flask\na = Flask('a')\n@a.get('/x/new')\ndef f(): ...\n@a.get('/x/<n>')\ndef g(): ...\n"
        }
    )
    routes = join_routes(nodes)
    paths = {
        question: [route.path for route in find_routes(routes, *read_asked(question))]
        for question in ("GET /x/new", "GET /x/7", "GET /x/{id}", "/x/7?page=2", "POST /x/7", "GET /y")
    }
    assert paths == {
        "GET /x/new": ["/x/new"],
        "GET /x/7": ["/x/<n>"],
        "GET /x/{id}": ["/x/<n>"],
        "/x/7?page=2": ["/x/<n>"],
        "POST /x/7": [],
        "GET /y": [],
    }
    assert read_asked("orders") is None


def test_a_question_may_lack_optional_segments_at_the_end():
    nodes, _ = nodes_and_edges(
        {
            "routes/web.php": (
                "<?php\nRoute::get('/search/{term?}', [A::class, 'find']);\nRoute::get('/list/{page?}', [A::class, 'list']);\n"
                "Route::get('/list', [A::class, 'all']);\n"
            ),
            "app.js": "const app = require('express')();\napp.get('/posts/:year?/:month?', f);\napp.get('/x/:id', f);\n",
        }
    )
    routes = join_routes(nodes)
    for question, expected in (
        ("GET /search", ["/search/{term?}"]),
        ("GET /search/a", ["/search/{term?}"]),
        ("GET /list", ["/list"]),
        ("GET /posts", ["/posts/:year?/:month?"]),
        ("GET /posts/2020/1", ["/posts/:year?/:month?"]),
        ("GET /x", []),
    ):
        assert [route.path for route in find_routes(routes, *read_asked(question))] == expected, question


def serve(folder, texts):
    config = Config(root=folder / "project")
    config.root.mkdir()
    config.chunks_dir.mkdir(parents=True)
    for path, text in texts.items():
        (config.root / path).write_text(text)
    body = {"id": "x", "chunk_type": "code", "text": "x", "metadata": {"file_path": min(texts)}}
    (config.chunks_dir / "a.json").write_bytes(orjson.dumps({"_metadata": {}, "chunks": [body]}))
    write_graph(config, tuple(texts))
    publish(config)
    served = EngineWorker("graph", config)
    served.reload()
    return served


@pytest.fixture
def worker(tmp_path):
    return serve(tmp_path, FLASK)


def test_a_route_of_an_interface_means_the_method_of_the_class_that_serves_it(tmp_path):
    texts = {
        name: (GOLDEN / "spring/src/shop" / name).read_text()
        for name in ("PetApi.java", "PetController.java")
    }
    worker = serve(tmp_path, texts)
    assert ask(worker, "callees", "GET /pets/7")[0].target == "PetController:PetController.pet"
    _, rows = ask(worker, "callers", "PetController.pet")
    assert [(row["edge"], row["node"]["route"]) for row in rows] == [("routes_to", "GET /pets/{id}")]


def test_a_route_means_its_handler(worker):
    hits, rows = ask(worker, "callees", "POST /api/orders")
    assert hits.target == "orders:create"
    assert [row["node"]["id"] for row in rows] == ["orders:store"]
    assert ask(worker, "callees", "/api/orders/7")[0].target == "orders:show"
    hits, _ = ask(worker, "callees", "POST /orders")
    assert hits.suggestion == "There is no route 'POST /orders'. Nearest: POST /api/orders."


def test_callers_and_impact_of_a_handler_name_its_routes(worker):
    _, rows = ask(worker, "callers", "create")
    assert [(row["edge"], row["node"]["route"]) for row in rows] == [("routes_to", "POST /api/orders")]
    _, rows = ask(worker, "impact", "store", depth=2)
    assert [row["node"].get("route", "") for row in rows] == ["", "POST /api/orders"]


def test_all_routes_are_listed_and_filtered_by_path(worker):
    hits, rows = ask(worker, "routes", "")
    assert [(row["node"]["route"], row["handlers"]) for row in rows] == [
        ("POST /api/orders", ["orders:create"]),
        ("GET /api/orders/<int:number>", ["orders:show"]),
    ]
    assert [row["path"] for row in ask(worker, "routes", "<int")[1]] == ["/api/orders/<int:number>"]
    assert ask(worker, "routes", "", max_results=1)[0].next_offset == 1
    assert ask(worker, "routes", "nothing")[0].suggestion == "No route has a path with 'nothing'."
    assert hits.total_found == 2


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("GET /api/orders/", "Nearest: GET /api/orders/<int:number>."),
        ("DELETE /api/orders/7", "Nearest: GET /api/orders/<int:number>."),
        ("GET /api/shops", "Nearest: POST /api/orders, GET /api/orders/<int:number>."),
        ("GET /shops", "Routes: POST /api/orders, GET /api/orders/<int:number>."),
    ],
)
def test_an_unknown_route_comes_with_those_that_may_be_meant(worker, target, hint):
    assert ask(worker, "callees", target)[0].suggestion == f"There is no route {target!r}. {hint}"


def test_the_first_of_many_routes_are_named_for_an_unknown_one(tmp_path):
    names = "abcdefg"
    app = "from flask import Flask\napp = Flask(__name__)\n" + "".join(
        f"\n\n@app.get('/{name}')\ndef show_{name}():\n    return ''\n" for name in names
    )
    hits, _ = ask(serve(tmp_path, {"app.py": app}), "callees", "GET /shops")
    assert hits.suggestion == (
        "There is no route 'GET /shops'. Routes: GET /a, GET /b, GET /c, GET /d, GET /e and 2 more."
    )
    assert not hits.candidates


CATCH_ALL = FLASK | {
    "app.py": FLASK["app.py"] + "\n\n@app.get('/<path:rest>')\ndef lose(rest):\n    return ''\n"
}


@pytest.mark.parametrize(
    ("target", "paths"),
    [
        ("orders", ["/api/orders", "/api/orders/<int:number>"]),
        ("nothing", []),
        ("/nothing", ["/<path:rest>"]),
        ("POST …/orders", ["/api/orders"]),
    ],
)
def test_a_part_of_a_path_is_no_value_of_a_parameter(tmp_path, target, paths):
    _, rows = ask(serve(tmp_path, CATCH_ALL), "routes", target)
    assert [row["path"] for row in rows] == paths


def test_a_route_with_an_unknown_begin_is_the_one_with_this_end(tmp_path):
    worker = serve(tmp_path, CATCH_ALL)
    assert ask(worker, "callees", "POST …/orders")[0].target == "orders:create"
    assert ask(worker, "callees", "GET …/nothing")[0].target == "app:lose"
    lost = "from flask import Blueprint\nbp = Blueprint('lost', __name__)\n\n\n@bp.post('/orders')\ndef find():\n    return ''\n"
    (tmp_path / "lost").mkdir()
    worker = serve(tmp_path / "lost", CATCH_ALL | {"lost.py": lost})
    assert ask(worker, "callees", "POST …/orders")[0].target == "lost:find"


def test_an_unknown_route_names_the_mounts_that_may_serve_it(tmp_path):
    app = FLASK["app.py"] + "app.register_blueprint(plugins[0], url_prefix='/plug')\n"
    hits, _ = ask(serve(tmp_path, FLASK | {"app.py": app}), "callees", "GET /plug/x")
    assert hits.suggestion == (
        "There is no route 'GET /plug/x'. Paths below /plug/ are computed at app.py:5."
    )


def test_routes_are_no_symbols(worker):
    (raw,) = worker.handlers[OutlineSearch](OutlineSearch("orders.py")).results
    assert [symbol["name"] for symbol in orjson.loads(raw)["symbols"]] == ["create", "show", "store"]
    names = worker.handlers[NameSearch](NameSearch("", "symbol")).candidates
    assert set(names) == {"create", "show", "store"}
