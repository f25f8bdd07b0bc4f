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
    return any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in omissions.INSIDE)


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
