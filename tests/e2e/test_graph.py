"""cortex_graph through the official client, from real files to real answers, and after an edit."""

from __future__ import annotations

import asyncio
import contextlib

import orjson
import pytest

from tests.consent import trust_files

pytestmark = pytest.mark.e2e

SOURCES = {
    "app/base.py": "class Store:\n    def save(self, item):\n        return item\n",
    "app/disk.py": (
        "from app.base import Store as Base\n\n\n"
        "class DiskStore(Base):\n    def save(self, item):\n        return super().save(item)\n"
    ),
    "app/main.py": (
        "from app.disk import DiskStore\n\n\n"
        "def main():\n    store = DiskStore()\n    return store.save(1)\n\n\ndef run():\n    main()\n"
    ),
    "pool/pool.go": "package pool\n\nfunc Open() int { return helper() }\n",
    "pool/help.go": "package pool\n\nfunc helper() int { return 1 }\n",
    "web/api.ts": "export class Api {\n  load(): number { return 1 }\n}\n",
    "web/index.ts": 'export { Api as Client } from "./api";\n',
    "web/page.ts": 'import { Client } from "./index";\n\nexport function show() {\n  return new Client().load();\n}\n',
}


@pytest.fixture(scope="module")
def sources(shared_project):
    """A project for all tests; the last two change it."""
    for name, text in SOURCES.items():
        path = shared_project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return shared_project


def ids(answer):
    return [result["node"]["id"] for result in answer["results"]]


async def until(front, wanted, **arguments):
    """Return the answer once it holds exactly `wanted`."""
    answer = {}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(60):
            while not answer or ids(answer) != wanted:
                with contextlib.suppress(Exception):
                    answer = await front.call("cortex_graph", detail="full", **arguments)
                await asyncio.sleep(0.05)
    assert ids(answer) == wanted
    return answer


def test_structure_is_answered_through_the_whole_path(sources):
    async def ask():
        async with sources.front() as front:
            callers = await until(
                front, ["app/main:main"], operation="callers", target="DiskStore.save", context_lines=0
            )
            return callers, [
                await front.call("cortex_graph", operation=operation, target=target, detail="full", **more)
                for operation, target, more in (
                    ("callees", "app/main:main", {}),
                    ("implementations", "Store", {}),
                    ("implementations", "app/base:Store.save", {}),
                    ("dependents", "app/base.py", {}),
                    ("dependencies", "app/main.py", {}),
                    ("type_usages", "app.base.Store", {}),
                    ("path", "run", {"to": "app/base:Store.save"}),
                    ("impact", "app/base:Store.save", {"depth": 3}),
                    ("callers", "pool.helper", {}),
                    ("callers", "Api.load", {}),
                    ("callers", "save", {}),
                    ("callers", "DiskStor", {}),
                )
            ]

    callers, answers = asyncio.run(ask())
    (caller,) = callers["results"]
    assert caller["location"] == {"file": "app/main.py", "line": 6, "column": 17}
    assert caller["confidence"] == "receiver"
    assert caller["context"] == [{"line": 6, "text": "    return store.save(1)"}]
    assert [ids(answer) for answer in answers] == [
        ["app/disk:DiskStore", "app/disk:DiskStore.save"],
        ["app/disk:DiskStore"],
        ["app/disk:DiskStore.save"],
        ["app/disk"],
        ["app/disk"],
        ["app/disk:DiskStore"],
        ["app/main:run", "app/main:main", "app/disk:DiskStore.save", "app/base:Store.save"],
        ["app/disk:DiskStore.save", "app/main:main", "app/main:run"],
        ["pool/pool:Open"],
        ["web/page:show"],
        [],
        [],
    ]
    impact = answers[7]
    assert [result["severity"] for result in impact["results"]] == ["high", "medium", "low"]
    assert impact["summary"]["affected"] == 3
    assert set(answers[10]["candidates"]) == {"app/base:Store.save", "app/disk:DiskStore.save"}
    assert "app/disk:DiskStore" in answers[11]["candidates"]
    for answer in answers:
        assert answer["metadata"]["source"] == "graph"
        assert answer["index"]["generation"] > 0


def test_outlines_and_patterns_are_answered_through_the_whole_path(sources):
    async def ask():
        async with sources.front() as front:
            await until(front, ["app/main:main"], operation="callers", target="app/disk:DiskStore.save")
            return (
                await front.call("cortex_outline", path="app/disk.py"),
                await front.call("cortex_pattern", pattern="store.save($ITEM)", language="python"),
            )

    outline, pattern = asyncio.run(ask())
    assert [symbol["signature"] for symbol in outline["results"][0]["symbols"]] == [
        "DiskStore(Base)",
        "save(self, item)",
    ]
    (match,) = pattern["results"]
    assert (match["file"], match["start_line"], match["variables"]) == ("app/main.py", 6, {"ITEM": "1"})
    assert outline["index"]["generation"] == pattern["index"]["generation"] > 0


def test_an_edited_file_changes_the_answers_of_others(sources):
    async def ask():
        async with sources.front() as front:
            await until(front, ["app/main:main"], operation="callers", target="app/disk:DiskStore.save")
            (sources.root / "app/disk.py").write_text(
                "from app.base import Store as Base\n\n\nclass DiskStore(Base):\n    pass\n"
            )
            return await until(front, ["app/main:main"], operation="callers", target="app/base:Store.save")

    assert asyncio.run(ask())["results"][0]["confidence"] == "receiver"


def test_a_damaged_graph_file_shows_in_the_status(sources):
    graph = sources.root / ".cortex" / "graph"
    graph.mkdir(parents=True)
    (graph / "theirs.json").write_text("{ not json")
    trust_files(sources.root)

    async def ask():
        async with sources.front() as front:
            await front.until_complete()
            return orjson.loads(sources.run("status", "--json").stdout)["warnings"]

    assert any("theirs.json" in warning for warning in asyncio.run(ask()))
