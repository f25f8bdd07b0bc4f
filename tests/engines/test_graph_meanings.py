"""Several definitions with one meaning, and notations of languages for a name."""

import orjson
import pytest

from tests.engines.small_graph import ask, ids, open_graph, publish, serve_files, serve_graph, write_graph


def _serve_calls(config, nodes, edges):
    """A worker over a graph whose edges are (from, to, line of calls.c)."""
    serve_graph(config, nodes)
    data = orjson.loads((config.graph_dir / "code-graph.json").read_bytes())
    data["edges"] = [
        {
            "from": caller,
            "to": to,
            "type": "calls",
            "location": {"file": "calls.c", "line": line, "column": 4},
        }
        for caller, to, line in edges
    ]
    (config.graph_dir / "code-graph.json").write_bytes(orjson.dumps(data))
    publish(config)
    return open_graph(config)


TWINS = [
    ("calls:run", "function", "calls.c"),
    ("calls:stop", "function", "calls.c"),
    ("unix/x:start", "function", "unix/x.c"),
    ("win/x:start", "function", "win/x.c"),
    ("test/y:start", "function", "mine/y.c"),
]


def test_definitions_that_share_one_call_are_one_target(config):
    edges = [("calls:run", "unix/x:start", 3), ("calls:run", "win/x:start", 3)]
    hits, results = ask(_serve_calls(config, TWINS[:4], edges), "callers", "start")
    assert [row["node"]["id"] for row in results] == ["calls:run"]
    assert (hits.candidates, hits.suggestion) == ((), "")


def test_functions_of_one_name_with_separate_callers_stay_separate(config):
    edges = [("calls:run", "unix/x:start", 3), ("calls:run", "win/x:start", 4)]
    hits, results = ask(_serve_calls(config, TWINS[:4], edges), "callers", "start")
    assert (results, hits.candidates) == ([], ("unix/x:start", "win/x:start"))


SYSTEMS = [
    (f"{folder}/x:{name}", "function", f"{folder}/x.c")
    for folder in ("unix", "win", "test")
    for name in ("start", "step")
]


def _calls(folder):
    return (f"{folder}/x:start", f"{folder}/x:step", "calls", f"{folder}/x.c")


@pytest.mark.parametrize("operation", ["callers", "impact"])
def test_private_functions_of_files_for_several_systems_are_one_target(config, operation):
    worker = serve_graph(config, SYSTEMS, [_calls("unix"), _calls("win"), _calls("test")])
    hits, results = ask(worker, operation, "step")
    assert [row["node"]["id"] for row in results] == ["unix/x:start", "win/x:start"]
    assert hits.suggestion == "Also called 'step': test/x:step."
    assert ids(worker, "callees", "start") == ["unix/x:step", "win/x:step"]


@pytest.mark.parametrize(("taken", "count"), [("int a", 2), ("char *a", 0)])
def test_functions_with_the_same_parameters_are_one_target(config, taken, count):
    for folder, text in (("unix", "int own"), ("win", taken)):
        (config.root / folder).mkdir()
        body = f"static int step({text}) {{ return 1; }}\nint start(void) {{ return step(1); }}\n"
        (config.root / folder / "x.c").write_text(body)
    write_graph(config, ("unix/x.c", "win/x.c"))
    publish(config)
    worker = open_graph(config)
    assert len(ids(worker, "callers", "step")) == count


@pytest.mark.parametrize(
    "other",
    ["win/y.c", "win/x.py", "mine/x.c"],
    ids=["a file of another name", "another language", "a file that defines other things"],
)
def test_private_functions_of_unrelated_files_stay_separate(config, other):
    stem, local_names = other.rpartition(".")[0], ["step", *(f"own{at}" for at in range(9))]
    nodes = [
        (f"{stem}:{name}", "function", other)
        for name in (local_names if "mine" in other else ("start", "step"))
    ]
    first = [(f"unix/x:{name}", "function", "unix/x.c") for name in ("start", "step", "a", "b", "c")]
    hits, results = ask(serve_graph(config, [*first, *nodes]), "callers", "step")
    assert (results, len(hits.candidates)) == ([], 2)


def test_a_third_function_next_to_variants_stays_separate(config):
    edges = [("calls:run", "unix/x:start", 3), ("calls:run", "win/x:start", 3)]
    hits, results = ask(
        _serve_calls(config, TWINS, [*edges, ("calls:stop", "test/y:start", 9)]), "callers", "start"
    )
    assert results == []
    assert hits.candidates == ("test/y:start", "unix/x:start")


def test_overloads_are_one_target(config):
    nodes = [*TWINS[:3], ("unix/x:start~2", "function", "unix/x.c")]
    edges = [("calls:run", "unix/x:start", 3), ("calls:stop", "unix/x:start~2", 4)]
    hits, results = ask(_serve_calls(config, nodes, edges), "callers", "start")
    assert [row["node"]["id"] for row in results] == ["calls:run", "calls:stop"]
    assert hits.candidates == ()


@pytest.mark.parametrize("kind", ["method", "impl", "function"])
def test_types_come_before_methods_and_impl_blocks_of_their_name(config, kind):
    nodes = [
        ("a:Saver", "trait", "a.rs"),
        ("b:Disk.Saver", kind, "b.rs"),
        ("b:Disk", "struct", "b.rs"),
        ("c:run", "function", "c.rs"),
    ]
    edges = [("b:Disk", "a:Saver", "implements"), ("c:run", "a:Saver", "uses_type")]
    worker = serve_graph(config, nodes, edges)
    assert ids(worker, "implementations", "Saver") == ["b:Disk"]
    assert set(ids(worker, "type_usages", "Saver")) == {"b:Disk", "c:run"}


@pytest.fixture(scope="module")
def notations(new_config):
    config = new_config()
    data = {
        "nodes": [
            {"id": name, "kind": kind, "file": file, "start_line": first, "end_line": last}
            for name, kind, file, first, last in [
                ("pkg/store/file:Store", "struct", "pkg/store/file.go", 3, 9),
                ("pkg/store/file:Store.save", "method", "pkg/store/file.go", 180, 190),
                ("pkg/store/file", "module", "pkg/store/file.go", 1, 200),
                ("src/codec:decode", "function", "src/codec.rs", 1, 9),
                ("src/codec", "module", "src/codec.rs", 1, 90),
                ("src/net/mod:dial", "function", "src/net/mod.rs", 1, 9),
                ("src/net/mod", "module", "src/net/mod.rs", 1, 90),
                ("src/lib:Pool.take", "method", "src/lib.rs", 1, 9),
                ("src/lib", "module", "src/lib.rs", 1, 90),
            ]
        ],
        "edges": [],
    }
    config.graph_dir.mkdir(parents=True)
    (config.graph_dir / "code-graph.json").write_bytes(orjson.dumps(data))
    publish(config)
    return open_graph(config)


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("(*Store).save", "pkg/store/file:Store.save"),
        ("(*store.Store).save", "pkg/store/file:Store.save"),
        ("Store.save(ctx, *Item)", "pkg/store/file:Store.save"),
        ("Store.save()", "pkg/store/file:Store.save"),
        ("store.Store.save", "pkg/store/file:Store.save"),
        ("pkg.store.Store.save", "pkg/store/file:Store.save"),
        ("pkg/store.Store.save", "pkg/store/file:Store.save"),
        ("file.go:188", "pkg/store/file:Store.save"),
        ("store/file.go:5", "pkg/store/file:Store"),
        ("crate::codec::decode", "src/codec:decode"),
        ("crate::codec::decode(bytes)", "src/codec:decode"),
        ("crate::net::dial", "src/net/mod:dial"),
        ("crate::Pool::take", "src/lib:Pool.take"),
        ("self::codec::decode", "src/codec:decode"),
        ("super::codec::decode", "src/codec:decode"),
        ("codec::decode", "src/codec:decode"),
    ],
)
def test_the_notations_of_languages_find_their_symbol_and_are_no_guess(notations, target, meant):
    hits, _ = ask(notations, "callers", target)
    assert hits.target == meant
    assert "There is no" not in hits.suggestion


WRAP = (
    "function wrap (x) { return x }\nfunction keep (x) { return wrap(x) }\nmodule.exports = { wrap, keep }\n"
)


@pytest.mark.parametrize(
    "text",
    [
        "const wrap = require('./wrap')\n",
        "var wrap = require('./wrap').wrap\n",
        "const { wrap } = require('./wrap')\n",
        "const wrap = await import('./wrap')\n",
        "const wrap = interop(require('./wrap'))\n",
        "const wrap = require('./wrap').wrap\nmodule.exports = { wrap }\n",
        "import { wrap } from './wrap'\n",
    ],
)
def test_an_import_is_no_meaning_beside_the_definition(config, text):
    use = "function handle (x) { return wrap(x) }\n"
    worker = serve_files(config, {"lib/wrap.js": WRAP, "lib/handle.js": text + use})
    hits, _ = ask(worker, "callers", "wrap")
    assert (hits.target, hits.candidates, hits.suggestion) == ("lib/wrap:wrap", (), "")


def test_an_import_of_an_import_is_no_meaning(config):
    files = {
        "lib/wrap.js": WRAP,
        "lib/index.js": "const wrap = require('./wrap').wrap\nexports.wrap = wrap\n",
        "main.js": "const wrap = require('./lib/index').wrap\nwrap(1)\n",
    }
    hits, _ = ask(serve_files(config, files), "callers", "wrap")
    assert (hits.target, hits.candidates) == ("lib/wrap:wrap", ())


def test_constants_that_are_no_imports_of_it_are_meanings(config):
    files = {
        "lib/wrap.js": WRAP,
        "lib/other.js": "const x = require('./wrap')\nconst wrap = { size: 1 }\nx.wrap(wrap)\n",
        "lib/third.js": "const wrap = require('wrapped')\nwrap(1)\n",
    }
    hits, _ = ask(serve_files(config, files), "callers", "wrap")
    assert hits.candidates == ("lib/other:wrap", "lib/third:wrap", "lib/wrap:wrap")


PYTHON = {
    "box.py": "class Box:\n    def put(self, item):\n        return item\n\n\ndef weigh(box):\n    return 1\n",
    "box.pyi": (
        "from typing import overload\n\nclass Box:\n    @overload\n    def put(self, item: int) -> int: ...\n"
        "    @overload\n    def put(self, item: str) -> str: ...\n\ndef weigh(box: Box) -> int: ...\n"
    ),
    "use.py": "from box import Box, weigh\n\n\ndef fill():\n    Box().put(1)\n    weigh(Box())\n",
}
SCRIPT = {
    "box.js": "exports.weigh = function weigh (x) { return 1 }\n",
    "box.d.ts": "export function weigh(x: string): number\nexport function weigh(x: number): number\n",
    "use.ts": "import { weigh } from './box'\n\nexport function fill() {\n  weigh(1)\n}\n",
}
OVERLOADED = {
    "box.ts": (
        "export function weigh(x: string): number\nexport function weigh(x: number): number\n"
        "export function weigh(x: any): number {\n  return 1\n}\n"
    ),
    "use.ts": SCRIPT["use.ts"],
}


@pytest.mark.parametrize(
    ("files", "name", "place"),
    [
        (PYTHON, "weigh", ("box.py", 6)),
        (PYTHON, "put", ("box.py", 2)),
        (SCRIPT, "weigh", ("box.js", 1)),
        (OVERLOADED, "weigh", ("box.ts", 3)),
    ],
)
def test_a_signature_is_no_meaning_beside_the_body(config, files, name, place):
    worker = serve_files(config, files)
    hits, results = ask(worker, "callers", name)
    assert (hits.candidates, hits.suggestion) == ((), "")
    assert "use:fill" in [result["node"]["id"] for result in results]
    _, (itself,) = ask(worker, "path", name, to=name)
    assert (itself["node"]["file"], itself["node"]["start_line"]) == place
