"""Callers, callees and paths over requests, as the graph's worker answers them."""

from __future__ import annotations

import orjson
import pytest

from cortex.engines.serving import EngineWorker
from cortex.settings.config import Config
from tests.engines.small_graph import ask, publish, write_graph

PAGE = {
    "web/api.ts": "import axios from 'axios';\nexport const api = axios.create({ baseURL: '/' });\n",
    "web/page.ts": (
        "import { api } from './api';\nexport async function submit(order) {\n  await api.post('/orders', order);\n}\n"
        "export function onClick() {\n  return submit({});\n}\n"
    ),
    "tests/test_orders.py": (
        "from fastapi.testclient import TestClient\nfrom shop.main import app\n\n\n"
        "def test_create():\n    TestClient(app).post('/orders')\n"
    ),
    "shop/main.py": (
        "from fastapi import Depends, FastAPI\nfrom shop.store import save, session\napp = FastAPI()\n\n\n"
        "@app.post('/orders')\ndef create(order, db=Depends(session)):\n    return save(order)\n"
    ),
    "shop/store.py": "def save(order):\n    return order\n\n\ndef session():\n    return 1\n",
}


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    config = Config(root=tmp_path_factory.mktemp("shop"))
    config.chunks_dir.mkdir(parents=True)
    for path, text in PAGE.items():
        (config.root / path).parent.mkdir(exist_ok=True)
        (config.root / path).write_text(text)
    body = {"id": "x", "chunk_type": "code", "text": "x", "metadata": {"file_path": "web/page.ts"}}
    (config.chunks_dir / "a.json").write_bytes(orjson.dumps({"_metadata": {}, "chunks": [body]}))
    write_graph(config, tuple(PAGE))
    publish(config)
    served = EngineWorker("graph", config)
    served.reload()
    return served


def test_callers_and_impact_of_a_handler_name_its_clients_and_tests(worker):
    expected = [
        ("shop/main:<POST /orders>", "routes_to", "", False),
        ("tests/test_orders:test_create", "requests", "POST /orders", True),
        ("web/page:submit", "requests", "POST /orders", False),
    ]
    for operation in ("callers", "impact"):
        _, rows = ask(worker, operation, "POST /orders")
        callers = [
            (row["node"]["id"], row["edge"], row.get("requests", ""), row.get("test", False)) for row in rows
        ]
        assert sorted(callers) == expected


def test_callees_of_a_page_name_its_routes(worker):
    _, rows = ask(worker, "callees", "submit")
    assert [(row["edge"], row["node"]["route"]) for row in rows] == [("requests", "POST /orders")]


def test_a_path_crosses_languages_by_a_request(worker):
    _, rows = ask(worker, "path", "onClick", to="save")
    assert [(row["node"]["id"], row.get("edge")) for row in rows] == [
        ("web/page:onClick", None),
        ("web/page:submit", "calls"),
        ("shop/main:<POST /orders>", "requests"),
        ("shop/main:create", "routes_to"),
        ("shop/store:save", "calls"),
    ]


def test_a_handler_refers_to_what_it_depends_on(worker):
    _, rows = ask(worker, "callers", "session")
    assert [(row["node"]["id"], row["edge"]) for row in rows] == [("shop/main:create", "references")]
