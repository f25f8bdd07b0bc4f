"""cortex_explore over a small project with calls across files, indexed and served in this
process.
"""

import asyncio
import time
from dataclasses import replace

import orjson
import pytest

from cortex.ask.exploring.explore import explore
from cortex.ask.questions import Explore
from cortex.system.errors import BadRequest, Unavailable
from tests.ask.explored_shop import QUESTION, SHOP, ask, symbols
from tests.ask.fake_workers import remote


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


def test_a_named_function_with_overloads_is_its_implementation(tmp_path, serve):
    (tmp_path / "box.py").write_text(
        "from typing import overload\n\n\nclass Box:\n    @overload\n    def put(self, x: int) -> int: ...\n\n"
        "    @overload\n    def put(self, x: str) -> str: ...\n\n    def put(self, x):\n        self.kept = x\n"
        "        return x\n\n    def put_twice(self, x):\n        self.put(x)\n        return self.put(x)\n"
    )
    answer = ask(serve(tmp_path), "why does Box.put keep its argument")
    assert "Box.put" in symbols(answer)
    assert any("self.kept = x" in entry["text"] for entry in answer["functions"])
