"""The candidates of an ambiguous call, listed once in an answer."""

import asyncio

import orjson
import pytest

from cortex.ask.structure import graph
from cortex.terms.code.ambiguous_candidates import candidates_of
from ipc.messages import GraphSearch

STORES = "class Disk:\n    def fetch_row(self):\n        return 1\n\n\nclass Tape:\n    def fetch_row(self):\n        return 2\n"
USERS = "".join(f"def use_{name}(one):\n    return one.fetch_row()\n\n\n" for name in "abc")
MEANT = ["stores:Disk.fetch_row", "stores:Tape.fetch_row"]


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("candidates")
    (root / "stores.py").write_text(STORES)
    (root / "users.py").write_text(USERS)
    return serve(root)


@pytest.mark.parametrize(
    ("operation", "target", "count"), [("callers", "Disk.fetch_row", 3), ("callees", "use_a", 2)]
)
def test_candidates_are_listed_with_the_first_result_that_has_them(served, operation, target, count):
    answer = asyncio.run(graph(served.context(), GraphSearch(operation, target)))
    results = orjson.loads(orjson.dumps(answer["results"]))
    assert len(results) == count
    assert [result.get("candidates") for result in results] == [MEANT, *[None] * (count - 1)]
    assert [result.get("candidates_of") for result in results] == [None, *[0] * (count - 1)]
    assert all(candidates_of(result, results) == MEANT for result in results)
