"""cortex_explore over a small project with calls across files, indexed and served in this
process.
"""

import asyncio
import time
from dataclasses import replace

import orjson
import pytest

from cortex.ask.exploring.explore import explore
from cortex.ask.exploring.query_symbols import asks_for_users, names_in
from cortex.ask.questions import Explore
from cortex.system.errors import BadRequest, Unavailable
from tests.ask.fake_workers import remote

SHOP = {
    "shop/server.py": '''"""Takes raw requests from the network."""

from shop.router import Router


class Server:
    """Answers the requests of browsers."""

    def __init__(self, router: Router) -> None:
        self.router = router

    def serve(self, raw: str) -> str:
        """Serve one raw request."""
        method, path = raw.split(" ")
        return self.router.dispatch(method, path)
''',
    "shop/router.py": '''"""Routes."""

from shop.tree import Tree


class Router:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def dispatch(self, method: str, path: str) -> str:
        found = self.tree.lookup(path)
        if found is None:
            return "404"
        return found
''',
    "shop/tree.py": '''"""The tree of paths."""


class Tree:
    def __init__(self) -> None:
        self.nodes: dict[str, str] = {}

    def lookup(self, path: str) -> str | None:
        """Look up the handler of a path in the tree, the longest prefix first."""
        while path:
            if path in self.nodes:
                return self.nodes[path]
            path = path.rpartition("/")[0]
        return None
''',
    "shop/main.py": """from shop.router import Router
from shop.server import Server
from shop.tree import Tree


def main(line: str) -> str:
    server = Server(Router(Tree()))
    return server.serve(line)
""",
    "shop/prices.py": '''"""Prices of goods, with their taxes."""


def total_price(net: float, tax: float) -> float:
    """The price that a customer pays."""
    return round_price(net + net * tax)


def round_price(value: float) -> float:
    """Round a price to cents."""
    return round(value, 2)
''',
    "tests/test_tree.py": """from shop.tree import Tree


def test_the_longest_prefix_is_found():
    tree = Tree()
    assert tree.lookup("/none") is None
""",
    "tests/test_prices.py": """from shop.prices import total_price


def test_taxes_are_added():
    assert total_price(1.0, 0.5) == 1.5
""",
    "docs/routing.md": "# Routing\n\nA request is dispatched by `Router.dispatch`; `Tree.lookup` finds the handler.\n",
}
QUESTION = "how does the server serve a raw request and look up the handler of its path in the tree"
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


@pytest.fixture(scope="module")
def shop(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("shop")
    for name, text in SHOP.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return serve(root)


def ask(served, query="", **more):
    return orjson.loads(orjson.dumps(asyncio.run(explore(served.context(), Explore(query, **more)))))


def symbols(answer):
    return [entry["symbol"] for entry in answer["functions"]]


def test_a_question_is_answered_by_a_chain_of_calls_in_its_order(shop):
    answer = ask(shop, QUESTION)
    assert "Server.serve → Router.dispatch → Tree.lookup" in answer["path"]
    chain = answer["path"].split(" → ")
    assert symbols(answer)[: len(chain)] == chain
    assert answer["index"]["degraded"] == []


def test_a_function_on_the_way_is_shown_though_the_question_does_not_name_it(shop):
    assert "dispatch" not in QUESTION
    assert "rout" not in QUESTION
    assert "Router.dispatch" in symbols(ask(shop, QUESTION))


def test_lines_are_those_of_the_file_without_their_common_indentation(shop):
    answer = ask(shop, QUESTION)
    (entry,) = [entry for entry in answer["functions"] if entry["symbol"] == "Router.dispatch"]
    lines = SHOP["shop/router.py"].split("\n")[entry["start_line"] - 1 : entry["end_line"]]
    assert entry["text"] == "\n".join(line.removeprefix("    ") for line in lines)
    assert entry["file"] == "shop/router.py"


def test_callers_tests_and_documents_come_with_the_code(shop):
    answer = ask(shop, "shop/tree.py:8")
    assert answer["tests"][0]["file"] == "tests/test_tree.py"
    assert answer["tests"][0]["tests"] == ["test_the_longest_prefix_is_found"]
    assert [document["file"] for document in answer["documents"]] == ["docs/routing.md"]
    entry = ask(shop, "total_price")
    assert [test["file"] for test in entry["tests"]] == ["tests/test_prices.py"]
    assert "may_break" not in entry


def test_callers_of_the_entry_are_named_or_shown(shop):
    answer = ask(shop, "Server.serve")
    shown_symbols = symbols(answer)
    callers = [caller["symbol"] for caller in answer.get("callers", ())]
    assert ("main" in shown_symbols) != ("main" in callers)


@pytest.mark.parametrize("query", ["Router.dispatch", "shop/router.py:11", "router.py:11:5", "dispatch"])
def test_a_symbol_and_a_place_show_what_is_around_them(shop, query):
    answer = ask(shop, query)
    assert "Server.serve → Router.dispatch → Tree.lookup" in answer["path"]


@pytest.mark.parametrize("query", ["round_prices", "nowhere/prices.py:3"])
def test_a_symbol_or_place_that_is_unknown_is_asked_as_a_question(shop, query):
    assert "round_price" in symbols(ask(shop, query))


@pytest.mark.parametrize("max_tokens", [300, 400, 700])
def test_the_budget_holds_and_a_note_names_the_cuts(shop, max_tokens):
    answer = ask(shop, QUESTION, max_tokens=max_tokens)
    assert len(orjson.dumps(answer)) <= 4 * max_tokens
    assert answer["functions"]
    full_answer = ask(shop, QUESTION)
    if len(orjson.dumps(full_answer)) > 4 * max_tokens:
        assert answer.get("truncated", False) == bool(answer.get("note"))


def test_a_small_budget_keeps_the_signature_and_names_the_lines_left_out(shop):
    answer = ask(shop, QUESTION, max_tokens=300)
    assert answer["truncated"] is True
    assert "max_tokens" in answer["note"]
    assert any(entry["text"].startswith("def ") for entry in answer["functions"])


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


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({}, "empty"),
        ({"diff": "this is no diff"}, "holds no changed lines"),
        ({"diff": "--- a\n+++ b\n@@ -1,9 +1,9 @@\n+x\n"}, "no unified diff"),
        ({"diff": "+" * 2_000_001}, "is longer than"),
    ],
)
def test_an_invalid_question_is_refused_with_a_sentence(shop, question, sentence):
    with pytest.raises(BadRequest, match=sentence):
        ask(shop, **question)


@pytest.mark.parametrize("worker", ["graph", "text", "vector"])
def test_a_worker_that_is_away_is_named_and_the_rest_still_answers(shop, worker):
    shop.faults[worker] = Unavailable(f"The {worker} worker is not running.")
    try:
        answer = ask(shop, QUESTION)
    finally:
        shop.faults.clear()
    assert answer["functions"]
    assert answer["index"]["degraded"] == [worker]


def test_without_a_worker_with_rows_the_call_fails_with_a_sentence(shop):
    shop.faults |= {name: Unavailable(f"The {name} worker is not running.") for name in ("text", "vector")}
    try:
        with pytest.raises(Unavailable, match=r"not running\.$"):
            ask(shop, QUESTION)
    finally:
        shop.faults.clear()


def test_a_function_whose_file_was_changed_meanwhile_is_marked(tmp_path, serve):
    for name, text in SHOP.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    served = serve(tmp_path)
    (tmp_path / "shop/prices.py").write_text("# gone\n")
    answer = ask(served, "total_price")
    assert all(entry["stale"] is True for entry in answer["functions"] if entry["file"] == "shop/prices.py")
    assert any(entry["file"] == "shop/prices.py" for entry in answer["functions"])


def test_an_empty_project_says_why_there_is_nothing(tmp_path, serve):
    answer = ask(serve(tmp_path), "how does it begin")
    assert answer["functions"] == []
    assert answer["suggestion"].endswith(".")


def test_a_file_shows_what_it_defines_at_its_top(shop):
    answer = ask(shop, "shop/prices.py")
    assert symbols(answer) == ["total_price", "round_price"]
    assert "path" not in answer


def test_lines_with_a_name_of_the_question_are_shown(shop):
    answer = ask(shop, "what is `nodes` for, and who fills it?")
    code = "\n".join(entry["text"] for entry in answer["functions"])
    assert "self.nodes: dict[str, str] = {}" in code
    assert "return self.nodes[path]" in code


TRACE = """Traceback (most recent call last):
  File "/srv/app/shop/main.py", line 8, in main
    return server.serve(line)
  File "/srv/app/shop/prices.py", line 11, in round_price
    return round(value, 2)
TypeError: type str doesn't define __round__ method
"""


def test_the_lines_of_a_pasted_trace_are_shown(shop):
    answer = ask(shop, TRACE)
    assert {"main", "round_price"} <= set(symbols(answer))
    code = "\n".join(entry["text"] for entry in answer["functions"])
    assert "return round(value, 2)" in code


@pytest.fixture(scope="module")
def script(tmp_path_factory, serve):
    """A class with statements between its functions; a script without definitions."""
    root = tmp_path_factory.mktemp("script")
    lines = [f"print('step {number} of the delivery')" for number in range(1, 121)]
    (root / "deliver.py").write_text("\n".join(lines) + "\n")
    (root / "parcels.py").write_text(
        "class Parcels:\n    def seal(self, parcel):\n        return self.stamp(parcel)\n\n"
        "    sealed = seal(None, 1)\n\n    def stamp(self, parcel):\n        raise ValueError(parcel)\n"
    )
    return serve(root)


def repeated_lines(answer):
    lines = [line.strip() for entry in answer["functions"] for line in entry["text"].split("\n")]
    return {line for line in lines if not line.startswith("⋯") and lines.count(line) > 1}


def frames(*places):
    frame_lines = [f'  File "/srv/{path}", line {line}, in {name}' for path, line, name in places]
    return "\n".join(["Traceback (most recent call last):", *frame_lines, "ValueError: 1"])


def test_a_pasted_trace_shows_no_line_twice(script):
    scripted = ask(script, frames(*(("deliver.py", line, "<module>") for line in (30, 50, 69, 90))))
    assert not repeated_lines(scripted)
    code = "\n".join(entry["text"] for entry in scripted["functions"])
    assert all(f"step {line} of" in code for line in (30, 50, 69, 90))


CHANGED = """--- a/parcels.py
+++ b/parcels.py
@@ -5,1 +5,1 @@
-    sealed = None
+    sealed = seal(None, 1)
@@ -8,1 +8,1 @@
-        pass
+        raise ValueError(parcel)
"""


def test_a_type_and_a_function_in_it_show_no_line_twice(script):
    answer = ask(script, diff=CHANGED)
    assert {"Parcels", "Parcels.stamp"} <= set(symbols(answer))
    assert not repeated_lines(answer)
    code = "\n".join(entry["text"] for entry in answer["functions"])
    assert all(
        text in code for text in ("class Parcels:", "sealed = seal(None, 1)", "raise ValueError(parcel)")
    )


COPIES = {
    "src/clock.js": "export function startClock(now) {\n  const ticks = [];\n  ticks.push(now);\n  return ticks;\n}\n",
    "options.js": "const timeoutMillis = 5;\nconst retries = 2;\nconst other = timeoutMillis * retries;\n",
}


@pytest.fixture(scope="module")
def copies(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("copies")
    for name, text in {**COPIES, "dist/clock.js": COPIES["src/clock.js"]}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return serve(root)


def test_a_function_and_its_built_copy_are_shown_once(copies):
    answer = ask(copies, "how is the clock started")
    assert [entry["file"] for entry in answer["functions"] if entry["symbol"] == "startClock"] == [
        "src/clock.js"
    ]


def test_a_silent_lane_leaves_time_for_the_others(shop):
    class Slow:
        """Keeps the embed worker silent until the end of its lane."""

        async def ask(self, worker, message, deadline_s):
            if worker == "embed":
                await asyncio.sleep(deadline_s)
                raise Unavailable("The embed worker is silent.")
            return await shop.ask(worker, message, deadline_s)

    config = replace(remote(shop.config), server=replace(shop.config.server, deadline_s=2.0))
    context = replace(shop.context(config), client=Slow(), until=time.monotonic() + 30.0)
    answer = asyncio.run(explore(context, Explore(QUESTION)))
    assert answer["functions"]
    assert answer["index"]["degraded"] == ["embed"]


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


@pytest.fixture(scope="module")
def imported(tmp_path_factory, serve):
    """A test that uses a module by a name that syntax cannot follow."""
    root = tmp_path_factory.mktemp("imported")
    (root / "tests").mkdir()
    (root / "fees.py").write_text("def fee_of_a_parcel(weight):\n    return 2 * weight\n")
    (root / "tests/test_post.py").write_text(
        "import fees\n\n\ndef test_all():\n    for name in vars(fees):\n        assert getattr(fees, name)\n"
    )
    return serve(root)


def test_tests_that_only_import_are_listed_and_marked_when_a_question_is_asked(imported):
    answer = ask(imported, "how is the fee of a parcel made")
    assert answer["tests"] == [{"file": "tests/test_post.py", "line": 1, "why": "imports"}]
    assert "tests" not in ask(imported, "fee_of_a_parcel")


@pytest.mark.parametrize(
    ("place", "file", "line"),
    [
        ("shop/main.py:2", "shop/main.py", "from shop.server import Server"),
        ("docs/routing.md:3", "docs/routing.md", "A request is dispatched by"),
        ("docs/routing.md", "docs/routing.md", "# Routing"),
        ("docs\\\\routing.md:1", "docs/routing.md", "# Routing"),
    ],
)
def test_a_place_outside_of_all_definitions_shows_the_lines_around_it(shop, place, file, line):
    first = ask(shop, place)["functions"][0]
    assert first["file"] == file
    assert line in first["text"]


def test_a_place_above_a_definition_shows_that_too(tmp_path, serve):
    (tmp_path / "expire.py").write_text(
        "LIMIT = 1\n\n\n# Runs in the background,\n# a little at a time.\n\ndef expire_some(keys):\n    return keys[:LIMIT]\n"
    )
    answer = ask(serve(tmp_path), "expire.py:4")
    assert symbols(answer) == ["expire.py:1", "expire_some"]


def test_tests_that_call_are_listed_without_those_that_only_import(shop):
    assert ask(shop, "total_price")["tests"] == [
        {"file": "tests/test_prices.py", "line": 5, "tests": ["test_taxes_are_added"]}
    ]


RUST = {
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/lib.rs": """pub struct Assets { pub count: u8 }

impl Assets {
    /// Chooses the syntax.
    pub fn syntax_for(&self, file: &str) -> u8 {
        if file.is_empty() {
            return 0;
        }
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Chooser { assets: Assets }

    impl Chooser {
        fn syntax_for_input_file(&self, file: &str) -> u8 {
            let chosen = self.assets.syntax_for(file);
            chosen
        }
    }

    #[test]
    fn syntax_is_chosen_for_an_input_file() {
        let chooser = Chooser { assets: Assets { count: 1 } };
        let chosen = chooser.syntax_for_input_file("input");
        assert_eq!(chosen, 1);
    }
}
""",
}


@pytest.fixture(scope="module")
def rust(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("rust")
    for name, text in RUST.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return serve(root)


def test_tests_inside_a_file_are_not_its_code(rust):
    answer = ask(rust, "how is the syntax chosen for an input file")
    assert symbols(answer) == ["Assets.syntax_for"]
    around = ask(rust, "Assets.syntax_for")
    assert symbols(around) == ["Assets.syntax_for"]
    assert not around.get("callers")
    assert around["tests"][0]["file"] == "src/lib.rs"
    assert around["tests"][0]["tests"] == ["tests.Chooser.syntax_for_input_file"]


def test_tests_asked_for_come_below_the_code_and_not_instead_of_it(shop):
    answer = ask(shop, "where is the longest prefix of a path found in the tree, and which tests cover it")
    shown = symbols(answer)
    assert "Tree.lookup" in shown
    tests = [symbol for symbol in shown if symbol.startswith("test_")]
    assert shown[len(shown) - len(tests) :] == tests
    assert answer["tests"][0]["file"] == "tests/test_tree.py"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("what breaks if MockUtil.getMockHandler changes", ["MockUtil.getMockHandler"]),
        ("who calls Config.load?", ["Config.load"]),
        ("`AbstractHandler::handle()` hangs", ["AbstractHandler::handle"]),
        ("see Store#save and store->drop", ["Store#save", "store->drop"]),
        ("a.b.c and `server.run()`", ["server.run"]),
        ("read_all or getMark in `disk`", ["read_all", "getMark", "disk"]),
        ("open app/main.py or package.json at example.com, e.g. i.e. v1.2.3 … at the end.Then", ["end.Then"]),
        ("operator<", ["operator<", "<", "__lt__"]),
        ("operator ()", ["operator()", "()", "__call__"]),
        ("bool operator[](int)", ["operator[]", "[]", "__getitem__"]),
        ("static func +", ["operator+", "+", "__add__"]),
        ("<=>", ["operator<=>", "<=>"]),
        ("if a < b", []),
    ],
)
def test_names_are_seen_with_their_owners(query, names):
    assert names_in(query) == names


@pytest.mark.parametrize(
    "query",
    [
        "what breaks if Tree.lookup changes",
        "what breaks if the signature of Tree::lookup changes in the server of raw requests",
        "why does Tree#lookup return None for a raw request",
        "who calls `Tree.lookup()`",
    ],
)
def test_a_name_with_its_owner_is_looked_up_and_shown_with_its_callers(shop, query):
    answer = ask(shop, query)
    shown = symbols(answer)
    assert "Tree.lookup" in shown
    assert shown[0] == "Tree.lookup" or query.startswith("why")
    callers = [caller["symbol"] for caller in answer.get("callers", ())]
    assert "Router.dispatch" in [*shown, *callers]
    assert answer["tests"][0]["file"] == "tests/test_tree.py"


def test_an_ambiguous_or_unknown_name_leaves_a_question_as_it_is(shop):
    best = symbols(ask(shop, QUESTION))
    assert symbols(ask(shop, f"{QUESTION} None.such"))[: len(best)] == best


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what breaks if a.b changes", True), ("who calls x?", True), ("where is x used", True), ("rename x", True),
        ("all callers of x", True), ("how does x call y", False), ("how is a change log read", False), ("what is x for", False),
        ("`a.b` gets a parameter. Which lines call it?", True), ("what happens if I remove `a.b`", True), ("usages of a.b", True),
        ("Removing a listener in a.b skips the next", False), ("a.b changes the order when it is called twice", False),
    ],
)  # fmt: skip
def test_a_query_about_users_is_known_by_its_words(query, expected):
    assert asks_for_users(query) is expected


def test_a_named_function_with_overloads_is_its_implementation(tmp_path, serve):
    (tmp_path / "box.py").write_text(
        "from typing import overload\n\n\nclass Box:\n    @overload\n    def put(self, x: int) -> int: ...\n\n"
        "    @overload\n    def put(self, x: str) -> str: ...\n\n    def put(self, x):\n        self.kept = x\n"
        "        return x\n\n    def put_twice(self, x):\n        self.put(x)\n        return self.put(x)\n"
    )
    answer = ask(serve(tmp_path), "why does Box.put keep its argument")
    assert "Box.put" in symbols(answer)
    assert any("self.kept = x" in entry["text"] for entry in answer["functions"])
