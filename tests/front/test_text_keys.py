"""Each key of an answer is in its text, or in the list of keys that are left out, with the reason:
the answers of all tools over real projects and a real store, with one value changed at a time.
"""

from __future__ import annotations

import asyncio
import copy
import fnmatch
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from cortex.front.text import omissions, render
from cortex.front.tools import TOOLS, TOOLSETS
from cortex.terms.observations import ROWS
from tests.front.test_observation_tools import example_of

DIFF = """\
--- a/src/auth/session.py
+++ b/src/auth/session.py
@@ -3,1 +3,1 @@
-SESSION_SECONDS = 3600
+SESSION_SECONDS = 7200
"""
QUESTION = "how is a token refreshed before it expires"
DETAILS = ("auto", "full", "snippet", "location")
OPERATIONS = ("callers", "callees", "dependencies", "dependents", "implementations", "type_usages", "impact")
#: (tool, arguments) of calls about code
CALLS = [
    *(("cortex_search", {"query": QUESTION, "detail": detail}) for detail in DETAILS),
    ("cortex_search", {"query": QUESTION, "explain": True}),
    ("cortex_search", {"query": "zqxj", "paths": ("no/**",)}),
    *(("cortex_exact", {"query": "refresh_token", "detail": detail}) for detail in DETAILS),
    ("cortex_exact", {"query": "token", "limit": 1}),
    *(
        ("cortex_graph", {"operation": operation, "target": target, "detail": detail, "depth": 2})
        for operation in OPERATIONS
        for target in ("SessionStore.refresh_token", "src/auth/session.py")
        for detail in ("compact", "full")
    ),
    ("cortex_graph", {"operation": "path", "target": "rotate", "to": "SessionStore.expire"}),
    ("cortex_graph", {"operation": "callers", "target": "refresh"}),
    ("cortex_graph", {"operation": "callers", "target": "nothing_of_that_name"}),
    *(
        ("cortex_uses", {"symbol": symbol, "direction": direction, "depth": 2, "max_tokens": tokens})
        for symbol in ("SessionStore.refresh_token", "SessionStore", "SESSION_SECONDS")
        for direction in ("callers", "callees", "implementations", "types")
        for tokens in (200, 1_200)
    ),
    ("cortex_explore", {"query": QUESTION}),
    ("cortex_explore", {"query": "SessionStore.refresh_token"}),
    ("cortex_explore", {"diff": DIFF}),
    ("cortex_outline", {"path": "src"}),
    ("cortex_pattern", {"pattern": "$A($B)", "language": "python", "limit": 1}),
    ("cortex_pattern", {"pattern": "class $A: $$$B", "language": "python"}),
    ("code_context", {"query": QUESTION}),
    ("cortex_read", {"places": ("SessionStore", "docs/auth.md:1-2", "src/auth", "src/auth/session.py")}),
    ("find_related", {"file": "src/auth/session.py"}),
]
#: the same about notes, on the observations of a small shop
ABOUT_NOTES = [
    ("cortex_candidates", {}),
    ("cortex_store", {"title": "A decision without a reason", "kind": "decision"}),
    ("cortex_relate", {"from_id": "1", "to_id": "3"}),
    ("cortex_search", {"query": "retry", "scope": "memory"}),
    ("cortex_recall", {"query": "retry", "explain": True}),
    ("cortex_briefing", {}),
    ("cortex_traverse", {"node_id": "1"}),
    *((name, example_of(name)) for name in ROWS),
]
#: key inside an answer, or `tool:key`, → reason; `*` stands for any part of a path of keys
LEFT_OUT = {
    "index.generation": "of use to programs; gaps of the index are sentences",
    "index.publishing": "index.message says it",
    "index.indexing.*": "index.message says it",
    "index.searchable.*": "index.message says it",
    "total": "the number of results",
    "omitted.weak": "weak hits are no answer",
    "match_type": "the reader's own argument, or the default",
    "*.chunk.id": "the place is the id",
    "*.chunk.chunk_type": "the path shows the kind of text",
    "*.chunk.tags": "for filters",
    "*.chunk.created_at": "time of indexing",
    "*.chunk.updated_at": "time of indexing",
    "*.chunk.metadata.*": "for filters; place, symbol and lines are in the text",
    "*.combined_score": "the order is that of the scores",
    "*.score": "the order is that of the scores",
    "*.similarity": "the order is that of the scores",
    "results.explain.*": "the products and their sum explain the order",
    "hits.source": "of use to programs",
    # cortex_graph
    "results.node.*": "place and name are in the text",
    "results.location.column": "the line is enough",
    "results.sites.column": "the line is enough",
    "results.sites.unsure": "the first place of a caller has the remark",
    "*.confidence": "only a doubtful reference has a remark",
    "results.kind": "the line of code shows it",
    "results.impact_type": "the summary counts them; an override has a remark",
    "results.severity": "the summary counts them; it follows from the steps",
    "summary.max_depth": "each level has a heading",
    "summary.by_level.*": "only several levels have a line",
    "summary.by_folder.*": "only several folders have a line",
    "summary.folders": "only what is left out has a number",
    "total_returned": "only a cut answer has its numbers",
    # cortex_outline
    "cortex_outline:path": "the reader's own argument",
    "cortex_outline:total_found": "a sentence counts the symbols that are left out",
    "symbols_shown": "a sentence counts the others",
    # cortex_pattern
    "files_searched": "a sentence, if files are left out",
    "language": "the reader's own argument",
    "pattern": "the reader's own argument",
    "results.column": "the line is enough",
    "results.variables.*": "the text holds them",
    # find_related
    "callers.calls": "the line of code shows it",
    "callers.id": "name and place are in the text",
    "documents.chunk.text": "the names that it mentions are in the text",
    "target.chunk_id": "the place is the id",
    # memory
    "id": "of a note: its number is an id too; of an edge: nothing takes it",
    "results.id": "the number is an id too",
    "edges.id": "nothing takes it",
    "edges.weight": "of use to programs",
    "nodes.importance": "of use to programs",
    "node_count": "the number of rows",
    "edge_count": "the number of rows",
    "total_count": "a cut list has its total",
    "count": "the number of rows",
    "*.metadata.scope": "scope says it, where it is not the project",
    "*.scope": "only a note of all projects has a remark",
    "*.project": "the project asked for",
    "*.type": "obs_type is more exact",
}
Path = tuple[str | int, ...]


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of each value inside an answer that is neither a list nor an object."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from leaves(inner, (*path, at))
    else:
        yield path


def changed(answer: Any, path: Path) -> Any:
    """Return a copy of the answer with another value of the same type at `path`."""
    copied = copy.deepcopy(answer)
    *parents, last = path
    inner = copied
    for key in parents:
        inner = inner[key]
    value = inner[last]
    if isinstance(value, bool):
        inner[last] = not value
    elif isinstance(value, int | float):
        inner[last] = value + 7
    else:
        inner[last] = f"zq {value or ''}"
    return copied


def shown_keys(tool: str, answer: Any, arguments: Any) -> dict[str, bool]:
    """Return each key in the answer, and whether the text changes with one of its values."""
    text = render(tool, answer, arguments=arguments)
    shown: dict[str, bool] = {}
    for path in leaves(answer):
        name = ".".join(key for key in path if isinstance(key, str))
        if not shown.get(name):
            shown[name] = render(tool, changed(answer, path), arguments=arguments) != text
    return shown


def is_left_out(tool: str, path: str) -> bool:
    """Whether a key is in the list of omissions; `path`: the keys that lead to it, with dots
    between.
    """
    keys = path.split(".")
    if keys[0] in omissions.EVERYWHERE or not omissions.FIELDS.keys().isdisjoint(keys):
        return True
    names = (path, f"{tool}:{path}")
    return any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in LEFT_OUT)


def silent_keys(tool: str, calls: list[tuple[Any, Any]]) -> set[str]:
    """Return the keys of (arguments, answer) in `calls` of a tool that are neither in a text nor in
    the list of omissions.
    """
    by_call = [shown_keys(tool, answer, arguments) for arguments, answer in calls]
    names = {name for shown in by_call for name in shown}
    shown_names = {name for shown in by_call for name, is_shown in shown.items() if is_shown}
    return {name for name in names - shown_names if not is_left_out(tool, name)}


@pytest.mark.parametrize("name", list(dict.fromkeys(name for name, _ in CALLS)))
def test_each_key_of_an_answer_about_code_is_in_its_text(sample, name):
    tool = TOOLS[name]
    calls = []
    for arguments in (arguments for other, arguments in CALLS if other == name):
        answer = asyncio.run(tool.call(sample.context(), tool.check(arguments)))
        calls.append((arguments, orjson.loads(orjson.dumps(answer))))
    assert sorted(silent_keys(name, calls)) == []


@pytest.mark.usefixtures("shop")
def test_each_key_of_an_answer_about_notes_is_in_its_text(window):
    silent = {}
    for name, arguments in ABOUT_NOTES:
        silent[name] = silent_keys(name, [(arguments, window.ask(name, **arguments))])
    assert [f"{name}: {sorted(keys)}" for name, keys in silent.items() if keys] == []


def test_each_tool_is_called():
    called = {name for name, _ in (*CALLS, *ABOUT_NOTES)}
    assert called == {entry.name for entries in TOOLSETS.values() for entry in entries}
