"""Every use of a definition: each place once, however much is shown of it."""

import asyncio
import re
from dataclasses import replace

import orjson
import pytest

from cortex.ask.structure import graph
from cortex.front.text import render
from ipc.messages import GraphSearch
from tests.ask.used import ask, serve_files, sites

FILES = {
    "shop/store.py": (
        "LIMIT = 3\n\n\n"
        "class Store:\n"
        "    def save(self, item):\n        return item\n\n"
        "    def save_all(self, items):\n"
        "        self.save(items[0])\n        for item in items[1:]:\n            self.save(item)\n\n\n"
        "def tally(n):\n    return tally(n - 1) if n else LIMIT\n"
    ),
    "shop/run.py": (
        "from shop.store import LIMIT, Store, tally\n\n\n"
        "def run(store: Store, other):\n"
        "    store.save(LIMIT)\n    other.save_all([])\n    other.tally(2)\n    return tally(1)\n\n\n"
        "def main():\n    return run(Store(), None)\n"
    ),
    "shop/a.py": "def load():\n    return 1\n\n\nX = load()\n",
    "shop/b.py": "def load():\n    return 2\n\n\nY = load()\n",
    "tests/test_store.py": (
        "from shop.store import Store\n\n\ndef test_save():\n    Store().save(1)\n    Store().save(2)\n"
    ),
    "notes.md": "# Save\n\nStore.save and LIMIT.\n",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("uses")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return serve(root)


OF_SAVE = [
    "shop/store.py:9",
    "shop/store.py:11",
    "shop/run.py:5",
    "tests/test_store.py:5",
    "tests/test_store.py:6",
]


@pytest.mark.parametrize(
    "symbol",
    [
        "Store.save",
        "Store::save",
        "Store#save",
        "Store->save()",
        "`Store.save`",
        "shop/store.py:6",
        "shop/store:Store.save",
    ],
)
def test_every_place_is_listed_in_any_spelling_of_the_symbol(served, symbol):
    (block,) = ask(served, symbol)["sites"]
    assert (block["of"], block["at"], block["total"]) == ("Store.save", "shop/store.py:5", 5)
    assert sites(block) == OF_SAVE
    first = block["files"][0]["sites"][1]
    assert first == {"line": 11, "name": "Store.save_all", "text": "self.save(item)"}
    assert [file.get("test", False) for file in block["files"]] == [False, False, True]


def test_a_place_in_the_definition_itself_is_a_use(served):
    (block,) = ask(served, "tally")["sites"]
    assert sites(block) == ["shop/store.py:15", "shop/run.py:8"]
    assert block["imports"] == {"total": 1, "files": [{"file": "shop/run.py", "lines": [1]}]}


def test_places_without_a_resolved_use_are_counted_beside_the_others(served):
    (block,) = ask(served, "tally")["sites"]
    assert block["unresolved"] == {
        "name": "tally",
        "total": 1,
        "places": [{"file": "shop/run.py", "line": 7, "text": "other.tally(2)"}],
    }


NAMES = ["Store.save", "Store.save_all", "tally", "run", "load", "Store"]


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_code_with_the_name_is_in_the_answer(served, name):
    """Nobody has to search the text after it."""
    answer = ask(served, name)
    word = name.rpartition(".")[2]
    listed = {place for block in answer["sites"] for place in sites(block)}
    for block in answer["sites"]:
        lines = (block.get("imports") or {}).get("files", ())
        listed |= {f"{file['file']}:{line}" for file in lines for line in file["lines"]}
        listed |= {f"{row['file']}:{row['line']}" for row in block.get("unresolved", {}).get("places", ())}
        listed.add(block["at"])
    others = answer["elsewhere"]
    assert not listed & set(sites(others)), "each line once"
    holding = {
        f"{path}:{number}"
        for path, text in FILES.items()
        for number, line in enumerate(text.split("\n"), 1)
        if re.search(rf"\b{word}\b", line)
    }
    shipped = {place for place in holding if place.startswith("shop/")}
    assert shipped <= listed | set(sites(others))
    assert (others["total"], others["texts"]) == (
        len(sites(others)),
        sum(".md" in place for place in holding),
    )
    assert f"{word} on " in render("cortex_uses", answer)


#: lines with the name `total`, which the graph lists as no use, and one with `tall` alone
OTHERS = {
    "shop/sum.py": (
        "@cache\ndef total(rows):\n    return sum(rows)\n\n\nclass Sums:\n    def total(self):\n        pass\n"
    ),
    "tests/test_sum.py": "def total_of(rows):\n    return 1\n\n\ndef test_it():\n    assert total_of([])\n",
    "shop/use.py": (
        "from shop.sum import total\n\n\n"
        "def run(rows, shop):\n    return total(rows)\n\n\n"
        'BY_NAME = {"total": "shop.sum:total"}\n\n\n'
        "class Bill:\n    def total(self):\n        return getattr(shop, 'total')\n\n\n"
        "def make():\n    # the total\n    return Bill(total=1, note='in total, none')\n"
    ),
}


def test_definitions_strings_and_arguments_of_the_name_are_other_lines(tmp_path_factory, serve):
    others = ask(serve_files(tmp_path_factory, serve, OTHERS), "shop.sum.total")["elsewhere"]
    assert sites(others) == ["shop/sum.py:7", *(f"shop/use.py:{number}" for number in (8, 12, 13, 18))]
    assert (others["texts"], others["total"], others["tests"]) == (1, 5, 0)


def test_the_definition_of_a_test_is_none_of_its_other_lines(tmp_path_factory, serve):
    others = ask(serve_files(tmp_path_factory, serve, OTHERS), "total_of")["elsewhere"]
    assert (others["total"], others["tests"]) == (0, 0)


def test_lines_with_a_name_that_the_language_calls_are_not_listed(tmp_path_factory, serve):
    types = "".join(f"class T{at}:\n    def __init__(self):\n        pass\n\n\n" for at in range(3))
    constant = "import a\n\n__version__ = '1'\n\n\ndef show():\n    return __version__\n"
    served = serve_files(tmp_path_factory, serve, {"a.py": f"{types}T0()\n", "b.py": constant})
    assert "elsewhere" not in ask(served, "T0.__init__")
    answer = ask(served, "b.__version__")
    assert "b.py:7" in sites(answer["sites"][0])


def test_a_name_with_many_uses_has_all_its_other_lines(tmp_path_factory, serve):
    uses_of_go = "".join(f"def f{at}():\n" + "    go()\n" * 50 for at in range(8))
    files = {"a.py": f"def go():\n    return 1\n\n\n{uses_of_go}", "z.py": "ORDERS = ['go']\n"}
    others = ask(serve_files(tmp_path_factory, serve, files), "a.py:1", max_tokens=20_000)["elsewhere"]
    assert (sites(others), others["total"], "at_least" in others) == (["z.py:1"], 1, False)


def test_other_lines_that_do_not_fit_are_numbers(tmp_path_factory, serve):
    files = {"a.py": "def go():\n    return 1\n"} | {
        f"more/m{at}.py": "def f(x):\n" + "    x.go(1)\n    x.y = x.go\n" * 20 for at in range(40)
    }
    served = serve_files(tmp_path_factory, serve, files)
    others = ask(served, "a.py:1", max_tokens=400)["elsewhere"]
    counted = [row["count"] for row in others.get("counts", ())]
    assert others["total"] == len(sites(others)) + sum(counted)
    assert len(render("cortex_uses", ask(served, "a.py:1", max_tokens=400)).encode()) <= 400 * 4 + 200


def test_the_second_step_has_names_alone(served):
    (block,) = ask(served, "Store.save", depth=2)["sites"]
    assert sites(block) == OF_SAVE
    assert block["further"] == {"total": 1, "files": [{"file": "shop/run.py", "names": ["main"]}]}


def test_a_type_is_used_where_it_is_made_and_where_it_is_named(served):
    (block,) = ask(served, "Store")["sites"]
    assert sites(block) == [
        "shop/run.py:4",
        "shop/run.py:12",
        "tests/test_store.py:5",
        "tests/test_store.py:6",
    ]
    assert block["imports"]["total"] == 2


def test_callees_are_the_calls_inside_with_the_places_of_their_definitions(served):
    (block,) = ask(served, "run", "callees")["sites"]
    assert "Store.save (shop/store.py:5)" in [site["name"] for site in block["files"][0]["sites"]]


def test_a_constant_is_used_where_code_holds_its_name(served):
    (block,) = ask(served, "LIMIT")["sites"]
    assert block["textual"]
    assert sites(block) == ["shop/run.py:5", "shop/store.py:15"]
    assert block["imports"]["total"] == 1


def test_each_of_a_few_meanings_is_answered(served):
    answer = ask(served, "load")
    assert [(block["at"], sites(block)) for block in answer["sites"]] == [
        ("shop/a.py:1", ["shop/a.py:5"]),
        ("shop/b.py:1", ["shop/b.py:5"]),
    ]
    assert answer["suggestion"] == ""


@pytest.mark.parametrize("detail", ["compact", "full"])
def test_an_ambiguous_target_of_the_graph_is_answered_for_agents_alone(served, detail):
    question = GraphSearch("callers", "load")
    answer = asyncio.run(graph(replace(served.context(), audience="agent"), question, detail))
    answer = orjson.loads(orjson.dumps(answer))
    assert [row["of"] for row in answer["results"]] == ["shop/a:load", "shop/b:load"]
    assert answer["total_found"] == 2
    assert asyncio.run(graph(served.context(), question, detail))["results"] == []


@pytest.mark.parametrize("symbol", ["operator()", "Disk::operator=", "operator bool"])
def test_lines_of_other_operators_are_not_those_of_an_unknown_one(tmp_path_factory, serve, symbol):
    text = "struct Money {\n  bool operator==(const Money& other) const { return operator<(other); }\n};\n"
    answer = ask(serve_files(tmp_path_factory, serve, {"money.cpp": text}), symbol)
    assert answer["sites"] == []
    assert repr(symbol) in answer["suggestion"]


def test_a_request_that_leads_to_a_route_is_no_unresolved_use_of_its_handler(tmp_path_factory, serve):
    files = {
        "app.py": "from flask import Flask\napp = Flask(__name__)\n\n\n@app.post('/orders')\ndef post():\n    return ''\n",
        "tests/test_app.py": "def test_one(client, other):\n    client.post('/orders')\n    other.post('/nothing')\n",
    }
    (block,) = ask(serve_files(tmp_path_factory, serve, files), "POST /orders")["sites"]
    assert sites(block) == ["app.py:5", "tests/test_app.py:2"]
    assert block["unresolved"]["total"] == 1


def test_an_unknown_symbol_is_explained(served):
    answer = ask(served, "no_such_name")
    assert answer["sites"] == []
    assert answer["suggestion"].startswith("There is no 'no_such_name' in the graph.")


@pytest.mark.parametrize("symbol", ["shop.load", "load"])
def test_copies_in_built_files_and_in_tests_are_no_meanings(tmp_path_factory, serve, symbol):
    root = tmp_path_factory.mktemp("copies")
    for path in ("shop/load.py", "shop/other.py", "dist/load.py", "dist/other.py", "tests/load.py"):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(FILES["shop/a.py"])
    answer = ask(serve(root), symbol)
    assert [block["at"] for block in answer["sites"]] == ["shop/load.py:1", "shop/other.py:1"]


def test_a_folder_before_the_name_chooses_among_its_meanings(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("folders")
    for folder in ("one", "two", "three", "four"):
        (root / folder).mkdir()
        (root / folder / "tasks.py").write_text(FILES["shop/a.py"])
    (block,) = ask(serve(root), "two::load")["sites"]
    assert block["at"] == "two/tasks.py:1"


def test_a_constant_that_exports_a_function_is_no_meaning(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("exports")
    files = {
        "lib/save.js": "export default function save(x) { return x; }\n",
        "lib/api.js": "import save from './save.js';\nconst api = { save };\nexport default api;\n",
        "index.js": "import api from './lib/api.js';\nconst { save } = api;\nexport { save };\n",
        "lib/run.js": "import save from './save.js';\nexport function run() { return save(1); }\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    blocks = ask(serve(root), "save")["sites"]
    assert [block["at"] for block in blocks] == ["lib/save.js:1"]
    assert "lib/run.js:2" in sites(blocks[0])


def test_a_use_in_generated_code_is_at_the_line_of_its_source_and_a_prototype_is_no_overload(
    tmp_path_factory, serve
):
    calls = "static int reduce(int a) {{\n{line}\n  {{\n  x = gen_reduce(a);\n}}\n  return x;\n}}\n"
    files = {
        "src/gen.h": "int gen_reduce(int a);\n",
        "src/gen.c": '#include "gen.h"\nint gen_reduce(int a) {\n  return a + 1;\n}\n',
        "src/parser.y": "%%\nTerm: 'r'\n{\n  $$ = gen_reduce($2);\n}\n",
        "src/parser.c": '#include "gen.h"\n' + calls.format(line='#line 3 "src/parser.y"'),
        "src/other.c": '#include "gen.h"\n' + calls.format(line='#line 3 "src/missing.y"'),
    }
    (block,) = ask(serve_files(tmp_path_factory, serve, files), "gen_reduce")["sites"]
    assert "overloads" not in block
    assert sorted(sites(block)) == ["src/other.c:5", "src/parser.y:4"]


@pytest.mark.parametrize(
    "line",
    [
        '#line 99999999999999999999 "a.c"',
        "//line a.c:99999999999999999999",
        '#line 999999999 "a.c"',
        '#line 1 "/etc/passwd"',
        '#line 1 "../../../../../etc/passwd"',
        '#line 0 "a.c"',
    ],
)
def test_a_line_directive_that_leads_nowhere_changes_no_place(tmp_path_factory, serve, line):
    files = {
        "a.h": "int go(int);\n",
        "a.c": '#include "a.h"\nint go(int n) { return n; }\n',
        "b.c": f'#include "a.h"\nint run() {{\n{line}\n  return go(1);\n}}\n',
    }
    (block,) = ask(serve_files(tmp_path_factory, serve, files), "go")["sites"]
    assert sites(block) == ["b.c:4"]


@pytest.fixture(scope="module")
def overloads(tmp_path_factory, serve):
    body = (
        "class Disk {\n"
        "    static int put(String name, Source from) {\n"
        "        return put(name, from.open());\n"
        "    }\n"
        "    static int put(String name, Reader from) {\n        return 1;\n    }\n"
        "    static int run(Reader reader, Object any) {\n"
        '        return put("a", reader) + put("b", any);\n'
        "    }\n"
        '    static int other(Source source) {\n        return put("c", source);\n    }\n'
        "}\n"
        "interface Source { Reader open(); }\n"
        "interface Reader { }\n"
    )
    return serve_files(tmp_path_factory, serve, {"src/Disk.java": body})


def marked(block):
    """Return the places of a block with the overload that each uses."""
    return [(site["line"], site.get("overload", 0)) for file in block["files"] for site in file["sites"]]


def test_an_overloaded_name_is_answered_for_all_overloads(overloads):
    (block,) = ask(overloads, "Disk.put")["sites"]
    assert (block["at"], block["overloads"]) == ("src/Disk.java:2", ["src/Disk.java:5"])
    assert marked(block) == [(3, 5), (9, 5), (12, 2)]
    text = render("cortex_uses", {"sites": [block]})
    assert text.startswith("uses of Disk.put, src/Disk.java:2, 5: 3")
    assert "→ 5" in text


@pytest.mark.parametrize(
    ("symbol", "at", "lines", "others"),
    [
        ("src/Disk.java:2", 2, [12], [("src/Disk.java:5", 2)]),
        ("src/Disk.java:6", 5, [3, 9], [("src/Disk.java:2", 1)]),
        ("Disk.put(String, Reader)", 5, [3, 9], [("src/Disk.java:2", 1)]),
        ("put(String name, Source from)", 2, [12], [("src/Disk.java:5", 2)]),
    ],
)
def test_one_overload_is_asked_for_by_place_or_parameters(overloads, symbol, at, lines, others):
    (block,) = ask(overloads, symbol)["sites"]
    assert block["at"] == f"src/Disk.java:{at}"
    assert [line for line, _ in marked(block)] == lines
    assert [(other["at"], other["total"]) for other in block["others"]] == others
    assert f"of another overload; ask for {others[0][0]}" in render("cortex_uses", {"sites": [block]})


@pytest.mark.parametrize("symbol", ["Disk.put()", "Disk.put(String, …)", "Disk.put(int)"])
def test_parameters_that_tell_nothing_ask_for_all_overloads(overloads, symbol):
    (block,) = ask(overloads, symbol)["sites"]
    assert len(block["overloads"]) == 1
