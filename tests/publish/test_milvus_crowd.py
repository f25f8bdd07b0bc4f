"""Three hundred projects of a real milvus-lite in one query of `cortex serve`: neither the requests
nor the running processes grow with them.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from dataclasses import replace

import orjson
import pytest

from cortex.ask.freshness import Freshness
from cortex.ask.memory import Caller
from cortex.ask.multi_project.fan_out import NAMED_MAX
from cortex.ask.query_context import QueryContext
from cortex.engines.milvus.storage.collection import Collection
from cortex.front.http.access.tokens import Bearer
from cortex.front.http.metrics import Metrics
from cortex.front.http.projects import ClientLink, Projects
from cortex.front.tools import TOOLS
from cortex.system.errors import BadRequest
from ipc.codec import decode, encode
from ipc.service import answer
from tests.publish.test_milvus_publisher import SOURCES, Machine
from tests.wait_until import BOUND_S
from workers.text import make as make_text
from workers.vector import make as make_vector

PROJECTS = 300
#: the small count of projects to compare with
FEW = 20
ALL = Bearer("everybody", "read")
SPECIAL = {"lib/zebra.py": "def zebra_crossing(street):\n    return street.stripes\n"}


class InProcessLink:
    """A Link with workers in this process."""

    instances = []  # noqa: RUF012 - of all that are made

    def __init__(self, config):
        InProcessLink.instances.append(self)
        self.config, self.freshness = config, Freshness(config)
        self.workers = {"text": make_text(config), "vector": make_vector(config)}

    def open(self):
        pass

    async def close(self):
        pass

    async def reach(self, until):
        return QueryContext(self.config, self, self.freshness, until)

    async def ask(self, worker, message, _deadline_s):
        return decode(encode(answer(self.workers[worker], encode(message))))

    async def call(self, tool, arguments, _caller=None, others=None):
        until = time.monotonic() + 60.0
        context = replace(await self.reach(until), others=lambda names: others(names, until))
        return await tool.call(context, tool.check(arguments))


def copy_project(collection, names):
    """Copy all rows of the collection's project in Milvus to each of `names`."""
    project_filter, place = collection.project, collection.place.project
    fields = [
        field["name"] for field in collection._connected().describe_collection(collection.rows)["fields"]
    ]
    rows = collection.find(project_filter, [name for name in fields if not name.endswith("_bm25")])
    parts = collection.parts_like('pk != ""', ["pk", "content"])

    def renamed(some, name):
        return ({**row, "project": name, "pk": row["pk"].replace(place, name, 1)} for row in some)

    collection.insert(row for name in names for row in renamed(rows, name))
    collection.insert_parts(entry for name in names for entry in renamed(parts, name))
    for name in (collection.rows, collection.parts):  # milvus-lite sorts the rows in memory each time
        collection._connected().flush(name)


@pytest.fixture(scope="module")
def configs(milvus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("crowd")
    names = [f"p{number:03}" for number in range(PROJECTS)]

    def machine(name, sources):
        created = Machine(folder / f"made-{name}" / name, milvus, name, sources)
        created.config = replace(
            created.config, plug_settings=replace(created.config.plug_settings, collection="crowded")
        )
        return created

    first, special = machine(names[0], SOURCES), machine("p123", SPECIAL)
    first.publish()
    special.publish()
    with contextlib.closing(first.collection) as collection:
        copy_project(collection, [name for name in names if name not in ("p000", "p123")])
    out = []
    for name in names:
        root = folder / "served" / name
        root.mkdir(parents=True)
        settings = replace(first.config.plug_settings, project=name)
        out.append(dataclasses.replace(first.config, root=root, plug_settings=settings))
    out = [replace(config, server=replace(config.server, deadline_s=60.0)) for config in out]
    return [*out, dataclasses.replace(out[0], root=folder, plug_settings=replace(settings, project="nobody"))]


@pytest.fixture
def sent(monkeypatch):
    """Record the requests to Milvus."""
    calls = []
    for name in ("search", "get", "find", "count"):
        ask = getattr(Collection, name)

        def counted(self, *arguments, _ask=ask, _name=name, **more):
            calls.append(_name)
            return _ask(self, *arguments, **more)

        monkeypatch.setattr(Collection, name, counted)
    return calls


@pytest.fixture(scope="module")
def served(configs):
    InProcessLink.instances.clear()
    return Projects(configs[:PROJECTS], Metrics(), make=InProcessLink)


def ask(front, tool, bearer=ALL, **arguments):
    link = ClientLink(front, front.find("", bearer), bearer, Caller(session="s", channel="http"))

    async def ask_all():
        """Query all projects; the first query to so many may lack some of them."""
        async with asyncio.timeout(BOUND_S):
            while True:
                answer = await link.call(TOOLS[tool], arguments)
                if "being downloaded" not in answer["index"].get("message", ""):
                    return orjson.loads(orjson.dumps(answer))

    return asyncio.run(ask_all())


def project_paths(answer):
    return [(hit["project"], hit["chunk"]["metadata"]["file_path"]) for hit in answer["results"]]


@pytest.mark.parametrize("detail", ["auto", "full"])
def test_one_question_to_three_hundred_projects_finds_the_one_that_knows(served, detail):
    answer = ask(served, "cortex_search", query="zebra crossing stripes", projects=["*"], detail=detail)
    assert project_paths(answer)[0] == ("p123", "lib/zebra.py")
    assert "street.stripes" in answer["results"][0]["chunk"]["text"]
    assert answer["index"]["projects"] == PROJECTS
    assert answer["index"]["degraded"] == []
    assert answer["index"]["generations"].keys() == {name for name, _ in project_paths(answer)}
    assert len(InProcessLink.instances) == 1


def test_searches_and_reads_do_not_grow_with_the_projects(served, sent):
    few = [f"p{number:03}" for number in (0, *range(123, 122 + FEW))]
    counts = []
    for projects in (few, ["*"]):
        ask(served, "cortex_search", query="zebra stripes", projects=projects, detail="full")
        sent.clear()
        ask(served, "cortex_search", query="crossing a street", projects=projects, detail="full")
        counts.append({name: sent.count(name) for name in ("search", "find", "count", "get")})
    assert counts[0]["search"] == counts[1]["search"] > 0
    assert counts[1]["count"] == 0
    assert all(counts[1][name] <= counts[0][name] + 1 for name in ("find", "get"))
    assert len(InProcessLink.instances) == 1


def test_a_keyword_query_over_all_projects_names_the_project_of_each_hit(served):
    answer = ask(served, "cortex_exact", query="zebra_crossing", projects=["*"])
    assert set(project_paths(answer)) == {("p123", "lib/zebra.py")}
    assert answer["results"][0]["chunk"]["text"].startswith("1: def zebra_crossing")
    every = ask(served, "cortex_exact", query="checkout", projects=["p0*"], detail="full", limit=100)
    assert every["total_found"] == 100
    assert {name for name, _ in project_paths(every)} == {f"p{number:03}" for number in range(100)}


def test_the_flat_answer_names_the_project_of_each_hit(served):
    answer = ask(served, "code_context", query="zebra crossing stripes", projects=["p1*"])
    assert (answer["hits"][0]["project"], answer["hits"][0]["file"]) == ("p123", "lib/zebra.py")


def test_a_token_finds_nothing_in_projects_that_it_may_not_query(served):
    bearer = Bearer("some", "read", ("p00*",))
    answer = ask(
        served, "cortex_search", bearer, query="zebra crossing stripes", projects=["*"], detail="full"
    )
    assert {name for name, _ in project_paths(answer)} <= {f"p00{number}" for number in range(10)}
    assert answer["index"]["generations"].keys() == {f"p00{number}" for number in range(10)}
    assert "p123" not in str(ask(served, "cortex_exact", bearer, query="zebra_crossing", projects=["*"]))
    with pytest.raises(BadRequest, match="There is no project 'p123'"):
        ask(served, "cortex_search", bearer, query="zebra", projects=["p123"])


def test_a_project_that_is_not_in_milvus_is_named_and_the_others_answer(configs):
    with_nobody = Projects([*configs[120:124], configs[-1]], Metrics(), make=InProcessLink)
    answer = ask(with_nobody, "cortex_search", query="zebra crossing stripes", projects=["*"])
    assert project_paths(answer)[0] == ("p123", "lib/zebra.py")
    assert answer["index"]["degraded"] == [configs[-1].root.name]
    assert "Milvus has no data of a project nobody" in answer["index"]["message"]
    assert len(answer["index"]["generations"]) == 4 <= NAMED_MAX
