"""Explore of a diff: what it touches, what may break, and which tests to run."""

import asyncio

import pytest

from cortex.ask.exploring.explore import explore
from cortex.ask.questions import Explore
from tests.ask.explored_shop import SHOP, ask, symbols

DIFF = """diff --git a/shop/prices.py b/shop/prices.py
--- a/shop/prices.py
+++ b/shop/prices.py
@@ -8,4 +8,4 @@

 def round_price(value: float) -> float:
     \"\"\"Round a price to cents.\"\"\"
-    return round(value, 3)
+    return round(value, 2)
"""


OUTSIDE = """--- a/../../etc/hostname
+++ b/../../etc/hostname
@@ -1 +1 @@
-one
+two
"""


def test_a_diff_shows_what_it_touches_what_may_break_and_which_tests_to_run(shop):
    answer = ask(shop, diff=DIFF)
    assert symbols(answer) == ["round_price"]
    assert answer["functions"][0]["text"].endswith("return round(value, 2)")
    assert [(broken["symbol"], broken["why"]) for broken in answer["may_break"]] == [
        ("total_price", "caller")
    ]
    assert [test["file"] for test in answer["tests"]] == ["tests/test_prices.py"]
    assert "not_indexed" not in answer


def test_a_diff_that_is_only_proposed_is_read_by_its_lines_as_they_were(shop):
    before = "\n".join(SHOP["shop/prices.py"].split("\n")[3:7])
    added = "\n".join(f"+# {number}" for number in range(20))
    context = "\n".join(f" {line}" for line in before.split("\n"))
    diff = "--- a/shop/prices.py\n+++ b/shop/prices.py\n@@ -1,7 +1,27 @@\n"
    head = "\n".join(f" {line}" for line in SHOP["shop/prices.py"].split("\n")[:3])
    diff += f"{head}\n{added}\n{context}".replace("\n     return round_price", "\n-    return round_price")
    diff += "\n+    return 0.0\n"
    changed = ask(shop, diff=diff)
    assert "total_price" in symbols(changed)
    assert "round_price" not in symbols(changed)


def test_a_long_diff_keeps_no_other_question_waiting(shop):
    added = [f"+def made_{number}(): return {number}" for number in range(45_000)]
    long = "\n".join(("--- a/shop/made.py", "+++ b/shop/made.py", f"@@ -0,0 +1,{len(added)} @@", *added, ""))

    async def count_turns():
        """Return how often another question had its turn meanwhile, and the answer."""
        question, turns = asyncio.create_task(explore(shop.context(), Explore(diff=long + DIFF))), 0
        while not question.done():
            await asyncio.sleep(0.001)
            turns += 1
        return turns, await question

    turns, answer = asyncio.run(count_turns())
    assert symbols(answer) == ["round_price"]
    assert turns > 10


def test_paths_of_a_diff_are_looked_up_and_never_opened(shop):
    answer = ask(shop, diff=OUTSIDE)
    assert answer["functions"] == []
    assert answer["not_indexed"] == ["../../etc/hostname"]
    assert answer["suggestion"].endswith(".")


TOP = """--- a/shop/main.py
+++ b/shop/main.py
@@ -1,4 +1,4 @@
-from shop.routing import Router
+from shop.router import Router
 from shop.server import Server
 from shop.tree import Tree

"""


PAGE = """--- a/docs/routing.md
+++ b/docs/routing.md
@@ -1,3 +1,3 @@
 # Routing

-A request is dispatched.
+A request is dispatched by `Router.dispatch`; `Tree.lookup` finds the handler.
"""


@pytest.mark.parametrize(
    ("diff", "file", "line"),
    [
        (TOP, "shop/main.py", "from shop.router import Router"),
        (PAGE, "docs/routing.md", "A request is dispatched by"),
    ],
)
def test_changed_lines_outside_of_definitions_are_shown(shop, diff, file, line):
    answer = ask(shop, diff=diff)
    assert [entry["file"] for entry in answer["functions"]] == [file]
    assert line in answer["functions"][0]["text"]
    assert "suggestion" not in answer


def test_definitions_come_before_the_lines_outside_of_them(shop):
    answer = ask(shop, diff=TOP + DIFF)
    assert symbols(answer) == ["round_price", "shop/main.py:1"]


def test_removed_lines_of_a_diff_are_shown_by_the_lines_around_them(shop):
    gone = "--- a/shop/main.py\n+++ b/shop/main.py\n@@ -1,2 +1,1 @@\n from shop.router import Router\n-import os\n"
    assert "import Router" in ask(shop, diff=gone)["functions"][0]["text"]


def test_importers_may_break_when_only_lines_outside_of_definitions_changed(shop):
    top = (
        "--- a/shop/router.py\n+++ b/shop/router.py\n@@ -1,3 +1,3 @@\n-# routes\n"
        '+"""Routes."""\n \n from shop.tree import Tree\n'
    )
    answer = ask(shop, diff=top)
    assert {entry["file"] for entry in answer["may_break"]} >= {"shop/main.py", "shop/server.py"}
