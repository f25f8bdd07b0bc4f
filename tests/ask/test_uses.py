"""Every use of a definition: each place once, however much is shown of it."""

import asyncio
import re
from dataclasses import replace

import orjson
import pytest

from cortex.ask.reading.read import Read, read
from cortex.ask.references.uses import UsesQuestion, uses
from cortex.ask.structure import graph
from cortex.front.text import render
from ipc.messages import GraphSearch

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


def ask(served, symbol, direction="callers", **more):
    return asyncio.run(uses(served.context(), UsesQuestion(symbol, direction, **more)))


def sites(block):
    """Return the places of a block, in its order."""
    return [f"{file['file']}:{site['line']}" for file in block["files"] for site in file["sites"]]


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


def serve_files(tmp_path_factory, serve, files):
    root = tmp_path_factory.mktemp("files")
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return serve(root)


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


FIELDS = {
    "shop/load.py": (
        "class Load:\n"
        '    """A load that is consumed once."""\n\n'
        "    weight: int = 0\n\n"
        "    def __init__(self):\n        self._consumed = False  # not consumed\n\n"
        "    @property\n    def consumed(self):\n"
        '        """Whether it is consumed."""\n'
        "        return self._consumed\n\n\n"
        "def make(consumed):\n    return Load(weight=2)\n"
    ),
    "shop/run.py": (
        "from shop.load import Load\n\n\n"
        "def run(load, consumed=False):\n"
        "    if load.consumed:  # consumed before\n"
        '        raise ValueError("consumed")\n'
        "    load.weight += 1\n"
        "    weight = 3\n"
        "    return weight\n"
    ),
    "tests/test_load.py": "\n".join(
        ["def test_load(load):", *(f"    assert load.consumed is {n}" for n in range(9))]
    ),
}


@pytest.fixture(scope="module")
def fields(tmp_path_factory, serve):
    return serve_files(tmp_path_factory, serve, FIELDS)


def test_a_property_is_used_where_code_accesses_it(fields):
    (block,) = ask(fields, "Load.consumed")["sites"]
    assert sites(block)[0] == "shop/run.py:5"
    assert [place for place in sites(block) if not place.startswith("tests/")] == ["shop/run.py:5"]
    assert block["total"] == 10
    assert block["files"][-1]["sites"] == [{"line": line} for line in range(2, 11)]


def test_a_field_that_the_graph_lacks_is_that_of_its_type(fields):
    answer = ask(fields, "Load.weight")
    (block,) = answer["sites"]
    assert (sites(block), block["at"]) == (["shop/run.py:7", "shop/load.py:16"], "shop/load.py:4")
    assert answer["suggestion"] == ""


def test_unresolved_places_come_once_and_are_calls_or_values(tmp_path_factory, serve):
    calls = "".join(f"def use{n}(a, b):\n    a.toll(1)\n    b.run(toll=1)\n\n\n" for n in range(3))
    served = serve_files(
        tmp_path_factory,
        serve,
        {
            "shop/toll.py": "def toll(n):\n    return n\n\n\ndef one():\n    return toll(1)\n",
            "shop/other.py": "def toll(n):\n    return -n\n\n\ndef two():\n    return toll(2)\n",
            "shop/use.py": calls,
        },
    )
    first, second = ask(served, "toll")["sites"]
    assert [place["line"] for place in first["unresolved"]["places"]] == [2, 7, 12]
    assert "unresolved" not in second
    assert all("unresolved" not in block for block in ask(served, "toll", offset=1)["sites"])


def test_an_impact_and_uses_at_depth_keep_to_their_budget(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("wide")
    folder = root / "services" / "orders" / "internal_handlers"
    folder.mkdir(parents=True)
    (root / "hub.py").write_text("def hub(item):\n    return item\n")
    for at in range(60):
        functions = "".join(
            f"def handle_an_order_of_kind_{at}_{n}(item):\n    return hub({n})\n\n\n"
            f"def prepare_an_order_of_kind_{at}_{n}(item):\n    return handle_an_order_of_kind_{at}_{n}(item)\n\n\n"
            for n in range(10)
        )
        (folder / f"handlers_of_kind_{at}.py").write_text(f"from hub import hub\n\n\n{functions}")
    context = replace(serve(root).context(), audience="agent")
    answer = orjson.loads(orjson.dumps(asyncio.run(graph(context, GraphSearch("impact", "hub", depth=3)))))
    text = render("cortex_graph", answer)
    assert len(text) / 4 <= 1_500
    assert (answer["total_found"], answer["next_offset"]) == (1_260, len(answer["results"]))
    assert "1260 in " in text
    assert "by steps: 600 at 1, 600 at 2" in text or "by steps: 660 at 1, 600 at 2" in text
    further = GraphSearch("impact", "hub", depth=3, offset=answer["next_offset"])
    pages = orjson.loads(orjson.dumps(asyncio.run(graph(context, further))))
    names = {orjson.dumps(row) for row in (*answer["results"], *pages["results"])}
    assert len(names) == len(answer["results"]) + len(pages["results"])
    used = asyncio.run(uses(context, UsesQuestion("hub", depth=3)))
    assert len(render("cortex_uses", used)) / 4 <= 1_500
    programs = asyncio.run(graph(serve(root).context(), GraphSearch("impact", "hub", depth=3)))
    assert programs["total_returned"] == 100


LINES_CS = {
    "Line.cs": (
        "namespace Shop;\npublic class Line : ISized\n{\n    public string Text { get; set; }\n"
        "    public bool IsBlank => Text.Length == 0;\n    public int Width\n    {\n        get { return Text.Length; }\n    }\n"
        "    int ISized.Size => 1;\n    public int Size { get; private set; } = 4;\n    public event System.Action Changed;\n}\n"
        "public interface ISized { int Size { get; } }\n"
    ),
    "Page.cs": (
        "namespace Shop;\npublic class Page\n{\n    private readonly Line line = new Line();\n"
        '    public bool Empty() { return line.IsBlank && line.Text == ""; }\n'
        "    public int Wide() { line.Changed += null; return line.Width + line.Size; }\n}\n"
    ),
}


@pytest.fixture(scope="module")
def properties(tmp_path_factory, serve):
    return serve_files(tmp_path_factory, serve, LINES_CS)


@pytest.mark.parametrize(
    ("name", "lines", "used"),
    [
        ("IsBlank", (5, 5), ["Page.cs:5"]),
        ("Line.Text", (4, 4), ["Line.cs:5", "Line.cs:8", "Page.cs:5"]),
        ("Width", (6, 9), ["Page.cs:6"]),
        ("Changed", (12, 12), ["Page.cs:6"]),
    ],
)
def test_a_property_is_a_definition_with_uses(properties, name, lines, used):
    (block,) = ask(properties, name)["sites"]
    assert block["at"] == f"Line.cs:{lines[0]}"
    assert sorted(sites(block)) == used
    (code,) = asyncio.run(read(properties.context(), Read((name,))))["code"]
    assert (code["file"], code["start"], code["end"]) == ("Line.cs", *lines)


def test_properties_of_one_name_are_apart(properties):
    assert "Line.cs:14" in [block["at"] for block in ask(properties, "Size")["sites"]]
    answer = asyncio.run(read(properties.context(), Read(("Line.Size",))))
    assert [entry["start"] for entry in answer["code"]] == [10]


def test_routes_of_one_line_are_named_together(tmp_path, serve):
    (tmp_path / "app.py").write_text(
        "from fastapi import APIRouter, FastAPI\n\napp = FastAPI()\nrouter = APIRouter()\n\n\n"
        "@router.api_route('/items', methods=['PUT', 'PATCH'])\ndef change(body):\n    return body\n\n\n"
        "app.include_router(router, prefix='/v1')\n"
    )
    block = ask(serve(tmp_path), "change")["sites"][0]
    names = [site["name"] for file in block["files"] for site in file["sites"]]
    assert names == ["PUT, PATCH /v1/items"]
    assert block["total"] == 1


def test_the_line_that_names_a_definition_below_its_decorator_is_no_other_line(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("decorated")
    (root / "auth.py").write_text(
        "from flask import Blueprint\n\nbp = Blueprint('auth', __name__)\n\n\n"
        "@bp.route('/login')\ndef login():\n    return login.__name__\n"
    )
    answer = asyncio.run(uses(serve(root).context(), UsesQuestion("login")))
    assert sites(orjson.loads(orjson.dumps(answer))["elsewhere"]) == ["auth.py:8"]


SETTINGS = {
    "shop/conf.py": (
        '"""Settings: disk_limit, and more.\n\nThe disk_limit is in bytes.\n"""\n\n\n'
        "def setup(app):\n    app.add_config_value('disk_limit', 10)\n    app.connect('disk-full', warn)\n\n\n"
        "def warn(app):\n    '''Warn at disk_limit.'''\n    app.emit(\n        'disk-full',\n    )\n\n\n"
        "@app.task(name='shop.clean_up')\ndef clean(app):\n    return app.conf.disk_limit\n"
    ),
    "tests/test_conf.py": (
        "DISK_LIMIT = 3\nCLEAN = 'shop.clean_up'\n\n\ndef test_it(app):\n    app.conf.disk_limit = DISK_LIMIT\n"
    ),
    "notes.md": "# Settings\n\n`disk_limit` and `disk-full`, `shop.clean_up`.\n",
}


@pytest.fixture(scope="module")
def settings(tmp_path_factory, serve):
    return serve_files(tmp_path_factory, serve, SETTINGS)


@pytest.mark.parametrize(
    ("symbol", "name", "lines", "texts"),
    [
        ("disk_limit", "disk_limit", ["shop/conf.py:21", "shop/conf.py:8", "tests/test_conf.py:6"], 4),
        ("'disk-full'", "disk-full", ["shop/conf.py:9", "shop/conf.py:15"], 1),
        ("shop.clean_up", "shop.clean_up", ["shop/conf.py:19", "tests/test_conf.py:2"], 1),
        ("conf.disk_limit", "disk_limit", ["shop/conf.py:21", "shop/conf.py:8", "tests/test_conf.py:6"], 4),
    ],
)
def test_a_name_without_a_definition_has_the_lines_with_it_in_strings(settings, symbol, name, lines, texts):
    answer = ask(settings, symbol)
    (block,) = answer["sites"]
    assert (block["of"], sites(block), block["total"]) == (name, lines, len(lines))
    others = answer["elsewhere"]
    assert (others["total"], others["tests"], others["texts"]) == (0, 0, texts)
    assert render("cortex_uses", answer).startswith(f"lines with {name}: {len(lines)}")


def test_a_name_in_another_case_is_named_but_its_uses_are_not_those_of_the_word(settings):
    answer = ask(settings, "disk_limit")
    assert (
        answer["suggestion"]
        == "No definition is named 'disk_limit'; like it: DISK_LIMIT (tests/test_conf.py:1)."
    )
    (block,) = ask(settings, "Disk_Limit")["sites"]
    assert block["at"] == "tests/test_conf.py:1", "no line has this word"


def test_lines_of_a_docstring_of_several_chunks_are_no_code(tmp_path_factory, serve):
    lines = [f"    Line {at} tells how the jobs go on, and which may stop.\n" for at in range(300)]
    code = "    jobs.run(\n        'go',\n    )\n    # let it go\n    return jobs.go\n"
    files = {
        "shop/go.py": "def go():\n    return 1\n",
        "shop/use.py": f'def use(jobs):\n    """Use it.\n\n{"".join(lines)}    """\n{code}',
    }
    others = ask(serve_files(tmp_path_factory, serve, files), "shop/go.py:1")["elsewhere"]
    assert (sites(others), others["texts"]) == (["shop/use.py:306"], 301)


REGISTERED = {
    "shop/panel.py": (
        "COMMANDS = {}\n\n\ndef command(**options):\n    def register(function):\n"
        "        COMMANDS[function.__name__] = function\n        return function\n\n    return register\n"
    ),
    "shop/control.py": (
        "import functools\n\nfrom shop.panel import command\n\n\n"
        "@command(\n    visible=True,\n)\ndef shutdown(state):\n    return state\n\n\n"
        "@functools.lru_cache\ndef size():\n    return 1\n\n\n"
        "@command()\ndef status():\n    shutdown = False\n    return shutdown\n"
    ),
    "shop/pool.py": (
        "def stop(pool, threads):\n    pool.shutdown()\n    threads[0].shutdown(wait=True)\n"
        "    shutdown = threads\n    return run(shutdown=shutdown)\n\n\ndef run(shutdown):\n    pass\n"
    ),
    "shop/ask.py": "def ask(app):\n    app.control.shutdown()\n",
    "shop/steps.py": "class Step:\n    def shutdown(self, wait=False):\n        pass\n",
    "src/app.ts": (
        "@Component({ name: 'app' })\nexport class App {\n  @Input() title = '';\n\n"
        "  @HostListener('click')\n  clicked() {\n    return 1;\n  }\n}\n"
    ),
    "src/Jobs.java": (
        'class Jobs {\n    @Override\n    @Scheduled(cron = "0 0 * * *")\n    public void sweep() {\n    }\n\n'
        '    @Override\n    public String toString() {\n        return "";\n    }\n}\n'
    ),
    "src/Module.kt": (
        'package app\n\n@Module\n@InstallIn(Single::class)\nobject ShopModule {\n    @Suppress("LongMethod")\n'
        "    @Provides\n    @Singleton\n    fun provideShop(clock: Clock): Shop = Shop(clock)\n\n"
        "    @Composable\n    fun Screen() {}\n}\n"
    ),
    "src/Panel.swift": (
        "class Panel {\n  @discardableResult\n  func draw() -> Int { 1 }\n\n  @IBAction func tapped() {}\n}\n"
    ),
}


@pytest.fixture(scope="module")
def registered(tmp_path_factory, serve):
    return serve_files(tmp_path_factory, serve, REGISTERED)


@pytest.mark.parametrize(
    ("symbol", "decorators"),
    [
        ("shop/control.py:6", [("@command(…)", 6)]),
        ("shop/control.py:9", [("@command(…)", 6)]),
        ("size", []),
        ("App", [("@Component(…)", 1)]),
        ("App.clicked", [("@HostListener(…)", 5)]),
        ("Jobs.sweep", [("@Scheduled(…)", 3)]),
        ("Jobs.toString", []),
        ("ShopModule", [("@Module", 3), ("@InstallIn(…)", 4)]),
        ("ShopModule.provideShop", [("@Provides", 7)]),
        ("ShopModule.Screen", []),
        ("Panel.draw", []),
        ("Panel.tapped", [("@IBAction", 5)]),
    ],
)
def test_a_decorator_that_may_register_a_definition_is_named(registered, symbol, decorators):
    answer = ask(registered, symbol)
    (block,) = answer["sites"]
    assert [(row["text"], row["line"]) for row in block.get("decorators", ())] == decorators
    named = [f"{text} (line {line})" for text, line in decorators]
    listed = f"registered or wrapped by {', '.join(named)}," if named else ""
    assert listed in render("cortex_uses", answer)


def test_lines_of_another_receiver_are_no_uses_of_a_function(registered):
    answer = ask(registered, "shop/control.py:6")
    (block,) = answer["sites"]
    assert [(file["file"], file.get("unsure", False)) for file in block["files"]] == [
        ("shop/control.py", False),
        ("shop/ask.py", True),
    ]
    assert {"shop/pool.py:2", "shop/pool.py:3", "shop/pool.py:4"} <= set(sites(answer["elsewhere"]))


#: jobs with the method of one name, and a type that its methods return
JOBS = {
    **{
        f"app/jobs/{name}_job.rb": f"class {name.title()}Job < ApplicationJob\n  def perform(id)\n    id\n  end\nend\n"
        for name in ("send", "load", "move", "drop", "sync", "ping")
    },
    "app/run.rb": "def run(other)\n  SendJob.perform_later(1)\n  other.perform(2)\nend\n",
    "src/lib.rs": "mod disk;\nmod make;\n",
    "src/disk.rs": (
        "pub struct Disk {\n    size: u8,\n}\nimpl Disk {\n    pub fn named(self) -> Disk {\n        self\n    }\n}\n"
    ),
    "src/make.rs": "use crate::disk::Disk;\n\npub fn make() -> u8 {\n    let disk = Disk { size: 1 };\n    disk.size\n}\n",
}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory, serve):
    return serve_files(tmp_path_factory, serve, JOBS)


def test_the_methods_of_many_other_jobs_are_counted_and_no_lines_of_one(jobs):
    answer = ask(jobs, "SendJob.perform")
    assert sites(answer["sites"][0])[0] == "app/run.rb:2"
    assert not [place for place in sites(answer["elsewhere"]) if "app/jobs" in place]
    assert answer["elsewhere"]["namesakes"] == 5
    assert "5 other definitions" in render("cortex_uses", answer)


def test_the_own_methods_of_a_type_follow_the_other_uses(jobs):
    assert sites(ask(jobs, "Disk")["sites"][0]) == ["src/make.rs:4", "src/disk.rs:4", "src/disk.rs:5"]
