"""cortex_read over small projects, indexed and served in this process."""

import ast
import asyncio

import numpy as np
import orjson
import pytest

from cortex.ask.reading.read import PLACES_MAX, Read, read
from cortex.front.text import render
from cortex.system.errors import BadRequest, Unavailable
from ipc.messages import UnitHits, UnitsAt

LONG = "\n".join(
    f"""    # step {number}
    if cart.needs_{number}(
        {number},
        "{number}",
    ):
        cart.add_{number}(
            {number},
        )
    else:
        cart.skip_{number}()
"""
    for number in range(1, 13)
)
FILES = {
    "shop/store.py": '''"""A store."""

import json


class Store:
    """Keeps goods."""

    def __init__(self, path):
        self.path = path

    def save(self, goods):
        """Write the goods."""
        with open(self.path, "w") as file:
            json.dump(encode(goods), file)

    def load(self):
        with open(self.path) as file:
            return json.load(file)


def encode(goods):
    return list(goods)
''',
    "shop/checkout.py": f'''from shop.store import Store, encode


def checkout(cart):
    """Sell what is in a cart.

    A text with a call (of a kind
    """
{LONG}
    store = Store("x")
    store.save(cart.goods)
    return encode(cart)
''',
    "shop/util.py": "def helper():\n    return 1\n",
    "web/util.js": "export function helper() { return 1; }\n",
    "web/shop.ts": """export class Shop {
  sell(item: string): void;
  sell(item: number): void;
  sell(item: any): void {
    this.log(item);
  }
  close() {}
  log(x: any) { console.log(x); }
}
""",
    "src/A.java": """class A {
  int add(int a) { return a; }

  void close() {}

  int add(int a, int b) {
    return add(a) + b;
  }
}
class B {
  void close() {}
}
""",
    **{f"many/m{number}.py": "def popular():\n    return 0\n" for number in range(6)},
    "docs/guide.md": "# Guide\n\n" + "\n".join(f"## Part {part}\n\n" + "Text.\n" * 12 for part in "ABCDEF"),
    "config.yml": "name: shop\nport: 80\n",
}

DATA = {
    "tls/cipher.go": 'package tls\n\nvar (\n\t// CipherSuites by name.\n\tCipherSuites = map[string]int{\n\t\t"a": 1,\n\t}\n)\n\nvar Version = "dev"\n',
    "src/Limits.java": "class Limits {\n  static final int LONGEST_NAME = 80;\n}\n",
    "lib/limits.rb": "module Limits\n  DEEPEST = 7\nend\n",
    "src/limits.kt": "const val WIDEST = 3\n",
    "src/limits.c": "static const int heaviest = 4;\n",
    "src/Limits.php": "<?php\nclass Bound {\n  const SLOWEST = 5;\n}\n",
    "src/Limits.swift": "let tallest = 9\n",
    "src/Limits.cs": "class Range {\n  public const int Fewest = 2;\n}\n",
    "other/Limits.php": "<?php\nclass Bound {\n  const SLOWEST = 6;\n}\n",
    **{
        f"src/used/User{at}.java": f"class User{at} {{\n  int LONGEST_NAME_{at} = Limits.LONGEST_NAME;\n}}\n"
        for at in range(40)
    },
}


def write(root, files=FILES):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def without_units(served):
    """Answer as an index without a table of units does."""
    nothing = UnitHits(0, (), np.zeros((0, 0), np.float32), ())
    served.workers["text"].handlers[UnitsAt] = lambda _request: nothing
    return served


@pytest.fixture(scope="module", params=["units", "no units"])
def shop(tmp_path_factory, serve, request):
    root = tmp_path_factory.mktemp("shop")
    write(root)
    served = serve(root)
    return served if request.param == "units" else without_units(served)


@pytest.fixture(scope="module")
def limits(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("limits")
    write(root, DATA)
    return serve(root)


@pytest.fixture
def changed(tmp_path, serve):
    """A project of its own, to be changed after it was indexed, and its folder."""
    write(tmp_path)
    return serve(tmp_path), tmp_path


def ask(served, *places, **more):
    return orjson.loads(orjson.dumps(asyncio.run(read(served.context(), Read(places, **more)))))


def names(answer):
    return [entry["name"] for entry in answer["code"]]


def places(answer):
    return [f"{entry['file']}:{entry['start']}-{entry['end']}" for entry in answer["code"]]


def shown(entry):
    return {
        piece["start"] + at: text
        for piece in entry["pieces"]
        for at, text in enumerate(piece["text"].split("\n"))
    }


def check_numbers(answer, root_files=FILES):
    """Each shown line is the line of its number in the file."""
    for entry in answer["code"]:
        lines = root_files[entry["file"]].split("\n")
        for number, text in shown(entry).items():
            assert lines[number - 1] == text


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("Store.save", "shop/store.py:12-15"),
        ("Store#save", "shop/store.py:12-15"),
        ("Store::save()", "shop/store.py:12-15"),
        ("store.save", "shop/store.py:12-15"),
        ("shop/store:Store.save", "shop/store.py:12-15"),
        ("shop/store.py:13", "shop/store.py:12-15"),
        ("store.py:13", "shop/store.py:12-15"),
        ("./shop/store.py#L13", "shop/store.py:12-15"),
        ("shop/store.py:13-14", "shop/store.py:13-14"),
        ("shop/store.py:20-99", "shop/store.py:20-23"),
        ("A::close()", "src/A.java:4-4"),
        ("Shop.sell", "web/shop.ts:2-6"),
        ("config.yml", "config.yml:1-2"),
        ("Store", "shop/store.py:6-19"),
    ],
)
def test_each_spelling_of_a_place_gives_its_lines(shop, place, expected):
    answer = ask(shop, place)
    assert places(answer) == [expected]
    check_numbers(answer)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("CipherSuites", "tls/cipher.go:5-7"),
        ("tls.CipherSuites", "tls/cipher.go:5-7"),
        ("Version", "tls/cipher.go:10-10"),
        ("LONGEST_NAME", "src/Limits.java:2-2"),
        ("Limits.LONGEST_NAME", "src/Limits.java:2-2"),
        ("Limits::DEEPEST", "lib/limits.rb:2-2"),
        ("WIDEST", "src/limits.kt:1-1"),
        ("heaviest", "src/limits.c:1-1"),
        ("src/Limits.php:SLOWEST", "src/Limits.php:3-3"),
        ("src.Limits#SLOWEST", "src/Limits.php:3-3"),
        ("other/Limits:Bound.SLOWEST", "other/Limits.php:3-3"),
        ("tallest", "src/Limits.swift:1-1"),
        ("Fewest", "src/Limits.cs:2-2"),
    ],
)
def test_data_is_read_by_its_name_in_each_language(limits, place, expected):
    answer = ask(limits, place)
    assert places(answer) == [expected]
    assert "notes" not in answer
    check_numbers(answer, DATA)


@pytest.mark.parametrize(
    "place",
    ["Other.LONGEST_NAME", "java.LONGEST_NAME", "src/Other.java:LONGEST_NAME", "tls/cipher.go:SLOWEST", "OR"],
)
def test_data_of_another_owner_or_file_is_not_read(limits, place):
    (note,) = ask(limits, place)["notes"]
    assert "There is no definition" in note


def test_several_places_are_answered_in_their_order(shop):
    answer = ask(shop, "encode", "web/shop.ts:7", "nowhere", "Store.load", "Store.load")
    assert names(answer) == ["encode", "Shop.close", "Store.load"]
    assert any("'nowhere'" in note for note in answer["notes"])
    check_numbers(answer)


def test_a_call_in_one_text_keeps_its_arguments(shop):
    answer = ask(shop, "A.add(int", "int)", "encode")
    assert names(answer)[-1] == "encode"
    assert "A.add" in names(answer)


def test_all_overloads_are_read(shop):
    answer = ask(shop, "A.add")
    code = "\n".join(piece["text"] for entry in answer["code"] for piece in entry["pieces"])
    assert "int add(int a) {" in code
    assert "int add(int a, int b) {" in code


def test_a_name_with_three_meanings_or_fewer_is_read_in_each(shop):
    answer = ask(shop, "helper")
    assert places(answer) == ["shop/util.py:1-2", "web/util.js:1-1"]
    assert any("2 meanings" in note for note in answer["notes"])


def test_tests_and_built_copies_are_no_meanings_beside_others(tmp_path, serve):
    code = "export function pack(x) { return x; }\n"
    paths = ("lib/pack.js", "dist/pack.js", "dist/esm/pack.js", "test/pack.test.js", "test/other.test.js")
    write(tmp_path, dict.fromkeys(paths, code))
    assert places(ask(serve(tmp_path), "pack")) == ["lib/pack.js:1-1"]


def test_the_places_of_a_name_with_many_meanings_are_listed(shop):
    answer = ask(shop, "popular", "encode")
    assert {line["file"] for line in answer["map"]} == {f"many/m{number}.py" for number in range(6)}
    assert names(answer) == ["encode"]
    assert any("'popular'" in note for note in answer["notes"])


def test_what_a_function_calls_in_the_project_is_listed(shop):
    answer = ask(shop, "Store.save")
    assert [(call["file"], call["start"], call["name"]) for call in answer["calls"]] == [
        ("shop/store.py", 22, "encode")
    ]
    assert "calls" not in ask(shop, "Store.save", "encode")


@pytest.mark.parametrize(
    "place", ["models/util.py", "a/web/util.js", "missing.py:3", "shop/stores.py", "shop/util.js"]
)
def test_a_path_that_is_not_there_is_never_read_as_another(shop, place):
    answer = ask(shop, place, "encode")
    assert names(answer) == ["encode"]
    assert any("There is no file" in note and "in the index" in note for note in answer["notes"])


def test_the_end_of_a_path_is_named_and_of_several_all(shop):
    assert any("is read as shop/store.py" in note for note in ask(shop, "store.py:13")["notes"])
    answer = ask(shop, "m1.py", "many/m1.py:1")
    assert any("many/m1.py" in note for note in answer["notes"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("X = 1\n", "was made a moment ago and is not indexed yet."),
        (
            "X = 1\n" * 300_000,
            "left out because it is larger than 1024 kB; indexing.max_file_kb takes it in.",
        ),
    ],
)
def test_a_file_that_is_there_and_not_indexed_is_said_to_be_left_out(shop, text, why):
    (shop.config.root / "late.py").write_text(text)
    try:
        answer = ask(shop, "late.py")
    finally:
        (shop.config.root / "late.py").unlink()
    assert answer["code"] == []
    assert any("late.py is there, but" in note and why in note for note in answer["notes"])


@pytest.mark.parametrize("place", ["../secret.py", "/etc/passwd", "../../etc/passwd:1-3"])
def test_nothing_outside_of_the_project_is_read(shop, place):
    (shop.config.root.parent / "secret.py").write_text("KEY = 1\n")
    assert ask(shop, place)["code"] == []


def test_an_unknown_symbol_is_answered_by_the_nearest(shop):
    (note,) = ask(shop, "encodes")["notes"]
    assert "There is no definition 'encodes'" in note
    assert "encode" in note.split("Nearest")[1]


def test_a_line_after_the_last_is_unknown(shop):
    (note,) = ask(shop, "shop/util.py:9")["notes"]
    assert "has 2 lines" in note


def test_a_file_is_its_outline_and_a_folder_lists_its_files(shop):
    (entry,) = ask(shop, "shop/checkout.py")["code"]
    assert [(row["start"], row["text"].strip()) for row in entry["outline"]] == [(4, "checkout(cart)")]
    assert {line["file"] for line in ask(shop, "shop")["map"]} == {
        f"shop/{name}.py" for name in ("store", "checkout", "util")
    }
    (entry,) = ask(shop, "docs/guide.md")["code"]
    assert [row["text"].strip() for row in entry["outline"]] == [
        "Guide",
        *(f"Part {part}" for part in "ABCDEF"),
    ]
    assert ask(shop, ".")["map"]


def shop_of(parts):
    """A file of `parts` functions, each with a word of its own."""
    return "import json\n\n\n" + "\n\n".join(
        f"def part_{number}(goods):\n" + f"    goods.append('{word}')\n" * 6 + "    return goods\n"
        for number, word in enumerate(parts)
    )


def test_a_long_file_with_a_query_is_its_outline_and_the_functions_that_fit(tmp_path, serve):
    fruits = ["apple", "pear", "plum", "cherry", "quince", "medlar", "grape", "lemon", "fig"]
    write(tmp_path, {"fruit.py": shop_of(fruits), "other.py": shop_of(["quince"] * 9)})
    served = serve(tmp_path)
    outline, match = ask(served, "fruit.py", query="which goods get a quince?")["code"]
    assert len(outline["outline"]) == len(fruits)
    assert match["name"] == "part_4"
    assert shown(match)[match["start"]] == "def part_4(goods):"
    (entry,) = ask(served, "fruit.py", query="zebra")["code"]
    assert "outline" in entry
    # a function that is asked for as well is there once
    answer = ask(served, "fruit.py", "part_4", query="quince")
    assert sum(entry["file"] == "fruit.py" and entry["name"] == "part_4" for entry in answer["code"]) == 1


def test_lines_that_are_asked_for_by_number_are_whole_unless_the_caller_sets_a_size(tmp_path, serve):
    text = "\n".join(f"value_{number} = compute(first, second, third, {number})" for number in range(1, 401))
    write(tmp_path, {"values.py": text})
    served = serve(tmp_path)
    answer = ask(served, "values.py:5-395")
    assert "notes" not in answer
    assert shown(answer["code"][0]).keys() == set(range(5, 396))
    answer = ask(served, "values.py:5-395", max_tokens=500)
    assert "values.py:" in answer["notes"][-1]
    assert len(shown(answer["code"][0])) < 60


def test_the_functions_of_a_changed_file_that_fit_have_their_new_lines(tmp_path, serve):
    text = shop_of(["apple", "pear", "plum", "cherry", "quince", "medlar", "grape", "lemon", "fig"])
    write(tmp_path, {"fruit.py": text})
    served = serve(tmp_path)
    text = "import os\nimport sys\n" + text
    write(tmp_path, {"fruit.py": text})
    match = ask(served, "fruit.py", query="quince")["code"][1]
    assert match["name"] == "part_4"
    check_numbers({"code": [match]}, {"fruit.py": text})


def test_a_line_of_a_document_and_one_outside_of_definitions_have_lines_around(shop):
    (entry,) = ask(shop, "docs/guide.md:20")["code"]
    assert entry["start"] <= 20 <= entry["end"]
    (entry,) = ask(shop, "shop/store.py:3")["code"]
    assert (entry["start"], entry["end"]) == (1, 3)


def test_a_line_of_the_comment_above_a_definition_means_the_definition(tmp_path, serve):
    write(
        tmp_path,
        {"a.go": "package a\n\ntype T struct{}\n\n// Save writes.\n// All of it.\nfunc (t *T) Save() {\n}\n"},
    )
    answer = ask(serve(tmp_path), "a.go:5")
    assert (places(answer), names(answer)) == (["a.go:5-8"], ["T.Save"])


STATEMENTS = {
    line
    for node in ast.walk(ast.parse(FILES["shop/checkout.py"]))
    if isinstance(node, ast.stmt) and not isinstance(node, (ast.FunctionDef, ast.If))
    for line in [(node.lineno, node.end_lineno)]
}


def check_statements(entry):
    """No statement is shown in part."""
    numbers = set(shown(entry))
    for first, last in STATEMENTS:
        lines = set(range(first, last + 1))
        assert lines <= numbers or not lines & numbers, (first, last)
    for test in (
        node.test for node in ast.walk(ast.parse(FILES["shop/checkout.py"])) if isinstance(node, ast.If)
    ):
        lines = set(range(test.lineno, test.end_lineno + 1))
        assert lines <= numbers or not lines & numbers


@pytest.mark.parametrize("max_tokens", [100, 150, 200, 300, 450, 700, 1_000, 2_500])
@pytest.mark.parametrize("query", ["", "skip 7", "what is in a cart"])
def test_a_long_function_is_cut_between_statements_within_the_budget(shop, max_tokens, query):
    answer = ask(shop, "checkout", max_tokens=max_tokens, query=query)
    (entry,) = answer["code"]
    if "pieces" in entry:
        check_statements(entry)
    check_numbers(answer) if "pieces" in entry else None
    assert len(render("cortex_read", answer).encode()) <= 4 * max_tokens + 150
    if "pieces" not in entry or len(shown(entry)) < 100:
        assert any("read them by number, as shop/checkout.py:" in note for note in answer["notes"])


def test_the_words_and_the_line_in_question_choose_the_blocks(shop):
    text = FILES["shop/checkout.py"].split("\n")
    line = text.index("        cart.skip_7()") + 1
    for answer in (
        ask(shop, "checkout", query="when is step 7 skipped: skip_7", max_tokens=500),
        ask(shop, f"shop/checkout.py:{line}", max_tokens=500),
    ):
        (entry,) = answer["code"]
        assert line in shown(entry)
        assert 4 in shown(entry)
        assert entry["outline"]
        check_statements(entry)


def test_the_budget_is_shared_and_short_ones_are_whole(shop):
    answer = ask(shop, "checkout", "Store.save", "encode", "src/A.java", max_tokens=400)
    assert names(answer)[1:3] == ["Store.save", "encode"]
    assert len(shown(answer["code"][1])) == 4
    assert len(render("cortex_read", answer).encode()) <= 4 * 400 + 200


def test_lines_that_moved_have_their_new_numbers(changed):
    served, root = changed
    text = FILES["shop/store.py"].replace("import json\n", "import json\nimport os\nimport sys\n")
    (root / "shop/store.py").write_text(text)
    answer = ask(served, "Store.save", "shop/store.py:15", "shop/store.py:3-5", "shop/store.py")
    assert places(answer)[:2] == ["shop/store.py:14-17", "shop/store.py:3-5"]
    check_numbers(answer, FILES | {"shop/store.py": text})
    assert not any(entry.get("stale") for entry in answer["code"])
    assert answer["index"]["pending"] == ["shop/store.py"]


def test_the_outline_of_a_changed_file_has_its_new_lines(changed):
    served, root = changed
    (root / "shop/checkout.py").write_text("import os\n\n\n" + FILES["shop/checkout.py"])
    (entry,) = ask(served, "shop/checkout.py")["code"]
    assert [(row["start"], row["text"].strip()) for row in entry["outline"]] == [(7, "checkout(cart)")]


def test_a_function_that_was_changed_is_read_as_it_is_now(changed):
    served, root = changed
    text = FILES["shop/store.py"].replace(
        "            json.dump", "            check(goods)\n            json.dump"
    )
    (root / "shop/store.py").write_text(text)
    answer = ask(served, "Store.save")
    assert places(answer) == ["shop/store.py:12-16"]
    assert "check(goods)" in answer["code"][0]["pieces"][0]["text"]


def test_a_function_that_is_not_there_any_more_is_marked_without_numbers(changed):
    served, root = changed
    (root / "shop/store.py").write_text("import json\n")
    answer = ask(served, "Store.save")
    (entry,) = answer["code"]
    assert entry["stale"] is True
    assert [piece["start"] for piece in entry["pieces"]] == [0]
    assert "12  " not in render("cortex_read", answer)


def test_a_file_that_was_removed_is_said_to_be(changed):
    served, root = changed
    (root / "shop/store.py").unlink()
    answer = ask(served, "Store.save")
    assert answer["code"][0]["stale"] is True
    assert any("shop/store.py was removed" in note for note in answer["notes"])


def test_more_places_than_one_answer_holds_are_counted(shop):
    answer = ask(
        shop,
        *(f"many/m{number % 6}.py:{1 + number // 6}" for number in range(PLACES_MAX)),
        "encode",
        "helper",
    )
    assert any("2 of 26 places are left out" in note for note in answer["notes"])


@pytest.mark.parametrize("texts", [(), ("",), ("  ", ""), ("x" * 5_000,)])
def test_no_place_and_a_text_for_a_place_are_refused(shop, texts):
    with pytest.raises(BadRequest, match=r"\.$"):
        ask(shop, *texts)


def test_without_the_graph_lines_are_read_and_symbols_are_said_to_be_unknown(shop):
    shop.faults["graph"] = Unavailable("The graph worker is not running.")
    try:
        answer = ask(shop, "shop/store.py:13-14", "Store.save")
    finally:
        shop.faults.clear()
    assert places(answer) == ["shop/store.py:13-14"]
    assert answer["index"]["degraded"] == ["graph"]
    assert any("'Store.save' was not looked up" in note for note in answer["notes"])


def test_the_text_is_numbered_as_the_file(shop):
    text = render("cortex_read", ask(shop, "Store.save"))
    assert text.startswith("shop/store.py:12-15  Store.save\n12      def save(self, goods):\n")
    assert text.endswith("calls\n  shop/store.py:22  encode")
