"""Numbers of any length, in texts with places and in arguments: an answer or a sentence, never an
unexpected error.
"""

import asyncio

import pytest

from cortex.ask.questions import NO_FILTERS
from cortex.front.tools import TOOLS
from cortex.system.errors import CortexError
from ipc.messages import Filters

LONG = "9" * 4_400
HUNK = "--- a/x.py\n+++ b/x.py\n@@ -1,1 +{},1 @@\n+x\n"


def call(sample, tool, **arguments):
    return asyncio.run(TOOLS[tool].call(sample.context(), TOOLS[tool].check(arguments)))


def sentence_of(sample, tool, **arguments):
    """Return the error about the arguments, or the suggestion of the answer."""
    try:
        return str(call(sample, tool, **arguments).get("suggestion", ""))
    except CortexError as error:
        return str(error)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("find_related", {"file": f"a:{LONG}"}),
        ("find_related", {"file": f"src/auth/session.py:{LONG[:4_000]}"}),
        ("find_related", {"file": "src/auth/session.py", "line": 10**30}),
        ("cortex_explore", {"query": f"src/auth/session.py:{LONG}"}),
        ("cortex_explore", {"query": f"src/auth/session.py:3:{LONG}"}),
        ("cortex_explore", {"diff": HUNK.format(LONG)}),
        ("cortex_explore", {"diff": HUNK.format(LONG[:30])}),
        ("cortex_search", {"query": f'File "x.py", line {LONG}, in f'}),
        ("cortex_search", {"query": f"    at a.B.c(B.java:{LONG})\n    at a.B.d(B.java:{LONG})"}),
        ("cortex_exact", {"query": f"x{{{LONG}}}", "match_type": "regex"}),
        ("cortex_exact", {"query": f"\\x{{{LONG}}}", "match_type": "regex"}),
        ("cortex_exact", {"query": f"start_line:>{LONG}"}),
        ("cortex_exact", {"query": f'"a b"~{LONG}'}),
        ("cortex_exact", {"query": f"rotate^{LONG}"}),
        ("cortex_exact", {"query": "rotate", "limit": 10**30, "offset": 10**30, "max_tokens": 10**30}),
        ("cortex_exact", {"query": "rotate", "limit": -(10**30), "offset": -1, "detail": "full"}),
        ("cortex_graph", {"operation": "callers", "target": f"src/auth/session.py:{LONG}"}),
        ("cortex_graph", {"operation": "callers", "target": "rotate", "depth": 10**30, "context_lines": -(10**30)}),
        ("cortex_graph", {"operation": "impact", "target": "rotate", "max_results": 10**30, "max_per_level": -5}),
        ("cortex_outline", {"path": f"src:{LONG}", "max_tokens": -(10**30)}),
        ("cortex_pattern", {"pattern": "rotate($A)", "language": "python", "limit": 10**30}),
        ("code_context", {"query": "rotate", "k": 10**30}),
    ],
)  # fmt: skip
def test_a_number_of_any_length_has_an_answer_or_a_sentence(sample, tool, arguments):
    assert len(sentence_of(sample, tool, **arguments)) < 1_000


def test_a_floor_of_nothing_is_not_blamed_for_what_a_filter_leaves_out(sample):
    answer = call(
        sample, "cortex_search", query="rotate", min_score=0, tags=["nothing-has-it"], paths=["nope/**"]
    )
    assert answer["results"] == []
    assert "min_score" not in answer["suggestion"]
    answer = call(sample, "code_context", query="rotate", k=-(10**30))
    assert len(answer["hits"]) == 1


def test_a_floor_and_a_filter_are_both_named_when_both_may_be_why(sample):
    turn = asyncio.run(_turn(sample))
    assert "min_score" not in turn.explain_nothing(Filters(paths=("a",)), 0.0)
    assert "filters keep reaches min_score 0.9" in turn.explain_nothing(Filters(paths=("a",)), 0.9)
    assert "leave it out" in turn.explain_nothing(NO_FILTERS, 0.9)


async def _turn(sample):
    async def make(turn):
        return turn

    return (await sample.context().attempt(make))[0]
