"""Compact graph answers: their fields, and the cost of a result."""

import asyncio
import itertools
import random
import re
import shutil
from pathlib import Path

import orjson
import pytest

from cortex.ask.compact import LINE_CHARS_MAX, compact
from cortex.ask.structure import graph, names
from ipc.messages import GraphSearch, NameSearch

REPOSITORY = Path(__file__).parents[2]
#: folders of this project that are indexed: the two with most calls between them
ROOMS = ("cortex/ask", "cortex/engines/graph")
OPERATIONS = ("callers", "callees", "implementations", "dependents", "type_usages", "impact")
#: symbols in a random sample
DRAWN = 15


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("rooms")
    for room in ROOMS:
        shutil.copytree(REPOSITORY / room, root / room, ignore=shutil.ignore_patterns("__pycache__"))
    return serve(root)


def ask(served, operation, target, detail="compact", **more):
    question = GraphSearch(operation, target, **({"context_lines": 2} | more))
    return orjson.loads(orjson.dumps(asyncio.run(graph(served.context(), question, detail))))


def draw(served):
    listed = asyncio.run(names(served.context(), NameSearch("", "symbol", 10_000)))["values"]
    return random.Random(18).sample(sorted(listed), DRAWN)


@pytest.mark.parametrize(("include_context", "most"), [(False, 60), (True, 110)])
def test_a_result_costs_few_tokens_over_this_projects_own_symbols(served, include_context, most):
    size = count = 0
    for name in draw(served):
        for operation in OPERATIONS:
            answer = ask(served, operation, name, include_context=include_context, max_results=20)
            assert all(row["text"] for row in answer["results"])
            size += len(orjson.dumps(answer["results"]))
            count += len(answer["results"])
    assert count > DRAWN
    assert size / 4 / count <= most


def test_a_compact_result_agrees_with_the_full_one(served):
    covered = set()
    for name in [*draw(served), "Walker.walk", "Walk", "GraphSnapshot"]:
        for operation in OPERATIONS:
            short = ask(served, operation, name, context_lines=0, max_results=5)
            full_answer = ask(served, operation, name, context_lines=0, max_results=5, detail="full")
            for row, full in zip(short["results"], full_answer["results"], strict=True):
                assert_same(row, full, operation, short.get("file"))
                covered.add(operation)
    assert covered >= {*OPERATIONS} - {"implementations"}  # rare in these folders


def assert_same(row, full, operation, file):
    node, place = full["node"], full["location"]
    defined, used = f"{node['file']}:{node['start_line']}", f"{place['file']}:{place['line']}"
    if operation == "callees":
        where = row["from"]
        assert row["at"] == defined
        assert used == (f"{file}:{where}" if isinstance(where, int) else where)
    else:
        written = operation == "implementations" or full.get("impact_type") == "override"
        assert row["at"] == (defined if written else used)
    assert all(row[name] == full[name] for name in ("edge", "confidence"))
    assert row["text"] == full["context"][0]["text"].strip()[:LINE_CHARS_MAX]
    assert row["kind"] == node["kind"]
    assert row.get("name", "") == ("" if node["kind"] == "module" else node["id"].rpartition(":")[2])


def test_a_compact_name_with_the_path_of_its_place_is_a_target_again(served):
    rows = ask(served, "callers", "ask/query_context:Turn.stale", max_results=5)["results"]
    assert len(rows) == 5
    for row in rows:
        target = f"{row['at'].rpartition(':')[0]}:{row['name']}"
        callees = ask(served, "callees", target)
        assert callees["target"].rpartition(":")[2] == row["name"]
        assert callees["file"] == row["at"].rpartition(":")[0]
        assert int(row["at"].rpartition(":")[2]) in [callee["from"] for callee in callees["results"]]


def test_each_step_of_a_path_has_its_definition_and_the_line_of_the_call(served):
    steps = ask(served, "path", "GraphSnapshot.search", to="Walker._walk_levels")["results"]
    assert [row["name"] for row in steps] == ["GraphSnapshot.search", "Walker.walk", "Walker._walk_levels"]
    assert [type(row.get("from")) for row in steps] == [type(None), int, int]
    for before, step in itertools.pairwise(steps):
        line = (REPOSITORY / before["at"].rpartition(":")[0]).read_text().splitlines()[step["from"] - 1]
        assert f"{step['from']}: {line.strip()}" in re.sub(r"(?m)^(\d+:) +", r"\1 ", step["text"])


def test_context_lines_stay_inside_their_definition(served):
    arguments = {"target": "ask/query_context:Turn.stale", "context_lines": 20}
    full_rows = ask(served, "callers", **arguments, detail="full")["results"]
    assert full_rows
    for row, full in zip(ask(served, "callers", **arguments)["results"], full_rows, strict=True):
        numbers = [int(line.partition(":")[0]) for line in row["text"].splitlines()]
        assert full["node"]["start_line"] <= numbers[0] <= full["location"]["line"]
        assert full["location"]["line"] <= numbers[-1] <= full["node"]["end_line"]


def test_an_override_is_placed_at_its_own_definition():
    node = {"id": "b:Disk.save", "kind": "method", "file": "b.py", "start_line": 9, "end_line": 9}
    full = {
        "node": node,
        "depth": 1,
        "edge": "extends",
        "location": {"file": "b.py", "line": 8, "column": 0},
        "impact_type": "override",
        "context": [{"line": 9, "text": "    def save(self): ..."}],
    }
    (row,), _ = compact([orjson.dumps(full)], "impact")
    compacted = orjson.loads(row)
    assert (compacted["at"], compacted["text"]) == ("b.py:9", "def save(self): ...")
