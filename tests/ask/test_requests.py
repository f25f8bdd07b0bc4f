"""A route's handler, its clients and its tests, in the answers of agents."""

import asyncio

import orjson
import pytest

from cortex.ask.questions import budget
from cortex.ask.references.uses import UsesQuestion, uses
from cortex.ask.structure import graph, outline
from cortex.front.text import render
from ipc.messages import GraphSearch, OutlineSearch
from tests.graph.test_request_answers import PAGE


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("requests")
    for name, text in PAGE.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return serve(root)


def shown(tool, answer):
    """Return the text of an answer as agents read it."""
    return render(tool, orjson.loads(orjson.dumps(answer)))


def test_uses_of_a_route_show_its_handler_its_clients_and_its_tests(served):
    answer = asyncio.run(uses(served.context(), UsesQuestion("POST /orders")))
    assert shown("cortex_uses", answer).split("\n")[:5] == [
        "uses of create, shop/main.py:6: 3",
        "shop/main.py:6  POST /orders: @app.post('/orders')",
        "web/page.ts:3  submit: await api.post('/orders', order);",
        "in tests",
        "tests/test_orders.py:6  test_create: TestClient(app).post('/orders')",
    ]


def test_an_impact_names_the_route_that_a_client_requests(served):
    answer = asyncio.run(graph(served.context(), GraphSearch("impact", "create")))
    lines = shown("cortex_graph", answer).split("\n")
    assert "web/page.ts:3  submit: await api.post('/orders', order);  requests POST /orders" in lines


def test_the_outline_of_a_project_begins_with_its_entry_points(served):
    answer = asyncio.run(outline(served.context(), OutlineSearch()))
    entry = {"route": "POST /orders", "at": "shop/main.py:6", "handler": "create"}
    assert (answer["entry_points"], answer["entry_points_total"]) == ([entry], 1)
    lines = shown("cortex_outline", answer).split("\n")
    assert lines[:2] == ["Entry points", "  POST /orders → create  shop/main.py:6"]
    for path in ("web", "shop/main.py"):
        assert "entry_points" not in asyncio.run(outline(served.context(), OutlineSearch(path)))


def test_a_go_package_has_its_entry_points_within_the_budget_of_its_outline(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("go")
    (root / "cmd" / "shop").mkdir(parents=True)
    (root / "go.mod").write_text("module example.com/shop\n")
    paths = [f"/orders/by/{at}" for at in range(40)]
    handles = "".join(f'\tmux.HandleFunc("{path}", show{at})\n' for at, path in enumerate(paths))
    shows = "".join(f"func show{at}(w http.ResponseWriter, r *http.Request) {{}}\n" for at in range(40))
    head = 'package main\n\nimport "net/http"\n\nfunc routes(mux *http.ServeMux) {\n'
    (root / "cmd" / "shop" / "main.go").write_text(f"{head}{handles}}}\n\n{shows}")
    served = serve(root)
    for path in ("", "cmd/shop"):
        answer = asyncio.run(outline(served.context(), OutlineSearch(path, budget(400))))
        assert answer["entry_points_total"] == len(paths)
        parts = {key: answer[key] for key in ("entry_points", "results")}
        assert len(orjson.dumps(parts)) < 400 * 4 + 100
