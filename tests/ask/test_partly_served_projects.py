"""Answers from a project that is served in part, or was saved since: missing files are reported
first, and no outdated line is quoted.
"""

import asyncio

import orjson
import pytest

from cortex.front.tools import TOOLS
from cortex.indexer.run import index

CORE = "def used(value):\n    return value\n"
CALLER = (
    "from core import used\n\n\ndef first():\n    return used(1)\n\n\ndef second():\n    return used(2)\n"
)


def call(served, name, **arguments):
    tool = TOOLS[name]
    return orjson.loads(orjson.dumps(asyncio.run(tool.call(served.context(), tool.check(arguments)))))


@pytest.fixture
def served(tmp_path, serve):
    (tmp_path / "core.py").write_text(CORE)
    (tmp_path / "caller.py").write_text(CALLER)
    return serve(tmp_path)


@pytest.fixture
def half(served):
    """Two of four files are served; the other two are indexed and not published."""
    (served.config.root / "late").mkdir()
    (served.config.root / "late" / "core.py").write_text("def late_one():\n    return used(3)\n")
    (served.config.root / "late" / "more.py").write_text("LATE = 4\n")
    index(served.config)
    return served


SHARE = "The project is 50 % searchable (2 of 4 files)"


@pytest.mark.parametrize("path", ["late/more.py", "late", "late/core.py"])
def test_the_outline_of_an_unserved_path_shows_no_other_file(half, path):
    answer = call(half, "cortex_outline", path=path)
    assert answer["results"] == []
    assert answer["suggestion"].startswith(SHARE)
    assert path in answer["suggestion"]


def test_the_outline_of_a_file_that_is_served_says_nothing_of_the_others(half):
    answer = call(half, "cortex_outline", path="core.py")
    assert [result["file"] for result in answer["results"]] == ["core.py"]
    assert answer["suggestion"] == ""


@pytest.mark.parametrize("operation", ["callers", "impact", "implementations"])
def test_a_name_that_is_missing_while_files_are_may_be_in_them(half, operation):
    answer = call(half, "cortex_graph", operation=operation, target="late_one")
    assert answer["suggestion"].startswith(SHARE)
    assert "late_one" in answer["suggestion"]


def test_a_name_that_is_missing_from_a_whole_project_is_missing(served):
    answer = call(served, "cortex_graph", operation="callers", target="late_one")
    assert answer["suggestion"].startswith("There is no 'late_one'")


def test_uses_without_a_definition_say_that_it_may_come(half):
    (half.config.root / "caller.py").write_text(CALLER)
    answer = call(half, "cortex_exact", query="first OR late_one")
    assert answer["suggestion"] == ""  # the definition is served
    answer = call(half, "cortex_exact", query="value", paths=["core.py"])
    assert answer["results"][0]["chunk"]["metadata"]["kind"] != "definition"
    assert answer["suggestion"].startswith(SHARE)
    assert "definition" in answer["suggestion"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("cortex_exact", {"query": "value", "paths": ["core.py"]}),
        ("cortex_graph", {"operation": "callers", "target": "late_one"}),
        ("cortex_outline", {"path": "late"}),
    ],
)
def test_the_served_share_is_reported_once(half, tool, arguments):
    answer = call(half, tool, **arguments)
    assert answer["suggestion"].startswith(SHARE)
    assert "searchable" not in answer["index"].get("message", "")
    assert answer["index"]["searchable"] == {"done": 2, "total": 4}
    assert SHARE in call(half, "cortex_exact", query="used OR first")["index"]["message"]


@pytest.mark.parametrize("operation", ["callers", "impact"])
def test_no_line_of_a_file_saved_since_is_quoted(served, operation):
    # Line 9, once the call in `second`, is now the one in `first`.
    (served.config.root / "caller.py").write_text("# one\n# two\n# three\n# four\n" + CALLER)
    answer = call(served, "cortex_graph", operation=operation, target="used")
    assert {result.get("name") for result in answer["results"]} >= {"first", "second"}
    assert all(result["stale"] and "text" not in result for result in answer["results"])


def test_related_code_quotes_no_line_that_calls_nothing(served):
    (served.config.root / "caller.py").write_text("# one\n" + CALLER)
    answer = call(served, "find_related", file="core.py", line=1)
    assert [(caller["text"], caller["stale"]) for caller in answer["callers"]] == [("", True)] * 2
