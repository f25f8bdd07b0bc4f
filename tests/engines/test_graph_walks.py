"""Walks through constructors and dispatch: callers at any depth, impact and paths."""

import random

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.engines.graph.arrays import assemble
from cortex.generation.graph import write_graph as write_segment_of
from cortex.generation.segments.segment import open_segment
from tests.drawn_examples import scaled
from tests.engines.small_graph import ask, ids, serve_files, serve_graph
from tests.engines.walk_properties import find_faults

#: language → (file, program, function, all that leads to it, a path). The constructor of a base
#: calls the function; a subtype inherits it, and another calls it, without a word where it can
MAKERS = {
    "python": (
        "a.py",
        (
            "def compile_rule(t):\n    return t\n\n\n"
            "class Rule:\n    def __init__(self, t):\n        self.parts = compile_rule(t)\n\n\n"
            "class Plain(Rule):\n    pass\n\n\n"
            "class Strict(Rule):\n    def __init__(self, t):\n        super().__init__(t)\n\n\n"
            "def make():\n    return Rule('a')\n\n\ndef make_plain():\n    return Plain('a')\n\n\n"
            "def make_strict():\n    return Strict('a')\n"
        ),
        "compile_rule",
        ["Rule.__init__", "Strict.__init__", "make", "make_plain", "make_strict"],
        ["make_strict", "Strict.__init__", "Rule.__init__", "compile_rule"],
    ),
    "ruby": (
        "a.rb",
        (
            "class Rule\n  def initialize(t)\n    @parts = compile_rule(t)\n  end\n\n"
            "  def compile_rule(t)\n    t\n  end\nend\n\nclass Plain < Rule\nend\n\n"
            "class Strict < Rule\n  def initialize(t)\n    super\n  end\nend\n\n"
            "class Make\n  def make\n    Rule.new('a')\n  end\n\n  def make_plain\n    Plain.new('a')\n  end\n\n"
            "  def make_strict\n    Strict.new('a')\n  end\nend\n"
        ),
        "Rule.compile_rule",
        ["Rule.initialize", "Strict.initialize", "Make.make", "Make.make_plain", "Make.make_strict"],
        ["Make.make_strict", "Strict.initialize", "Rule.initialize", "Rule.compile_rule"],
    ),
    "php": (
        "a.php",
        (
            "<?php\nfunction compile_rule($t) { return $t; }\n\n"
            "class Rule {\n    public function __construct($t) { $this->parts = compile_rule($t); }\n}\n\n"
            "class Plain extends Rule {\n}\n\n"
            "class Strict extends Rule {\n    public function __construct($t) { parent::__construct($t); }\n}\n\n"
            'function make() { return new Rule("a"); }\n\nfunction make_plain() { return new Plain("a"); }\n\n'
            'function make_strict() { return new Strict("a"); }\n'
        ),
        "compile_rule",
        ["Rule.__construct", "Strict.__construct", "make", "make_plain", "make_strict"],
        ["make_strict", "Strict.__construct", "Rule.__construct", "compile_rule"],
    ),
    "typescript": (
        "a.ts",
        (
            "export function compileRule(t: string) { return t; }\n\n"
            "export class Rule {\n  parts: string;\n  constructor(t: string) { this.parts = compileRule(t); }\n}\n\n"
            "export class Plain extends Rule {\n}\n\n"
            "export class Strict extends Rule {\n  constructor(t: string) { super(t); }\n}\n\n"
            'export function make() { return new Rule("a"); }\nexport function makePlain() { return new Plain("a"); }\n'
            'export function makeStrict() { return new Strict("a"); }\n'
        ),
        "compileRule",
        ["Rule.constructor", "Strict.constructor", "make", "makePlain", "makeStrict"],
        ["makeStrict", "Strict.constructor", "Rule.constructor", "compileRule"],
    ),
    "java": (
        "A.java",
        (
            'class Rule {\n    Rule() { compile("a"); }\n    static String compile(String t) { return t; }\n}\n'
            "class Plain extends Rule {\n}\nclass Loose extends Rule {\n    Loose(int n) { }\n}\n"
            "class Make {\n    Rule make() { return new Rule(); }\n    Rule makePlain() { return new Plain(); }\n"
            "    Rule makeLoose() { return new Loose(1); }\n}\n"
        ),
        "Rule.compile",
        ["Rule.Rule", "Loose.Loose", "Make.make", "Make.makePlain", "Make.makeLoose"],
        ["Make.makeLoose", "Loose.Loose", "Rule.Rule", "Rule.compile"],
    ),
    "csharp": (
        "A.cs",
        (
            'namespace A {\nclass Rule {\n    public Rule() { Compile("a"); }\n'
            "    public static string Compile(string t) { return t; }\n}\nclass Plain : Rule {\n}\n"
            "class Strict : Rule {\n    public Strict(string t) : base() { }\n}\n"
            "class Make {\n    Rule MakeRule() { return new Rule(); }\n    Rule MakePlain() { return new Plain(); }\n"
            '    Rule MakeStrict() { return new Strict("a"); }\n}\n}\n'
        ),
        "Rule.Compile",
        ["Rule.Rule", "Strict.Strict", "Make.MakeRule", "Make.MakePlain", "Make.MakeStrict"],
        ["Make.MakeStrict", "Strict.Strict", "Rule.Rule", "Rule.Compile"],
    ),
    "kotlin": (
        "A.kt",
        (
            "package a\n\nfun compileRule(t: String): String = t\n\n"
            "open class Rule(t: String) {\n    val parts = compileRule(t)\n}\n\n"
            'class Plain : Rule("b")\n\nfun make() = Rule("a")\nfun makePlain() = Plain()\n'
        ),
        "compileRule",
        ["Rule", "make", "makePlain"],
        ["makePlain", "Rule", "compileRule"],
    ),
    "swift": (
        "A.swift",
        (
            "func compileRule(_ t: String) -> String { return t }\n\n"
            'class Rule {\n    var parts: String\n    init() { self.parts = compileRule("a") }\n}\n\n'
            "class Plain: Rule {\n}\n\nclass Loose: Rule {\n    init(n: Int) { }\n}\n\n"
            "func make() -> Rule { return Rule() }\nfunc makePlain() -> Rule { return Plain() }\n"
            "func makeLoose() -> Rule { return Loose(n: 1) }\n"
        ),
        "compileRule",
        ["Rule.init", "Loose.init", "make", "makePlain", "makeLoose"],
        ["makeLoose", "Loose.init", "Rule.init", "compileRule"],
    ),
    "cpp": (
        "a.cpp",
        (
            "int compile_rule(int t) { return t; }\n"
            "class Rule {\npublic:\n    Rule() { compile_rule(1); }\n};\nclass Plain : public Rule {\n};\n"
            "class Loose : public Rule {\npublic:\n    Loose(int n) { }\n};\n"
            "Rule* make() { return new Rule(); }\nRule* make_plain() { return new Plain(); }\n"
            "Rule* make_loose() { return new Loose(1); }\n"
        ),
        "compile_rule",
        ["Rule.Rule", "Loose.Loose", "make", "make_plain", "make_loose"],
        ["make_loose", "Loose.Loose", "Rule.Rule", "compile_rule"],
    ),
}


def _short(names):
    return [name.partition(":")[2] for name in names]


@pytest.mark.parametrize("language", MAKERS)
def test_a_walk_goes_on_behind_a_constructor(config, language):
    file, program, function, affected, chain = MAKERS[language]
    worker = serve_files(config, {file: program})
    assert set(_short(ids(worker, "callers", function, depth=4))) == set(affected)
    assert set(_short(ids(worker, "impact", function, depth=4))) >= set(affected)
    _, results = ask(worker, "path", chain[0], to=function)
    assert _short(row["node"]["id"] for row in results) == chain
    assert results[1]["step"] == "constructs"
    constructor = affected[0]
    if "." in constructor:
        expected = set(affected[1:])
        assert (
            set(_short(ids(worker, "impact", f"{file.partition('.')[0]}:{constructor}", depth=3))) == expected
        )


#: language → (file, program, overriding method, its callers by level, path from the last of them)
SHAPES = {
    "python": (
        "pages.py",
        (
            "class Page:\n    def __init__(self, data):\n        self.body = self.layout(data)\n\n"
            "    def layout(self, data):\n        return str(data)\n\n    def again(self, data):\n        return self.layout(data)\n\n\n"
            'class TablePage(Page):\n    def layout(self, data):\n        return "|".join(data)\n\n\n'
            "def table(data):\n    return TablePage(data).again(data)\n"
        ),
        "TablePage.layout",
        [["Page.__init__", "Page.again"], ["table"]],
        ["table", "Page.again", "TablePage.layout"],
    ),
    "go": (
        "draw.go",
        (
            "package draw\n\ntype Shape interface{ Draw() string }\n\ntype Square struct{ Side int }\n\n"
            'func (s Square) Draw() string { return "square" }\n\ntype Canvas struct{}\n\n'
            "func (c *Canvas) Put(s Shape) string { return s.Draw() }\n\n"
            "func (c *Canvas) Square(side int) string { return c.Put(Square{side}) }\n\n"
            "func Page(c *Canvas) string { return c.Square(2) }\n"
        ),
        "Square.Draw",
        [["Canvas.Put"], ["Canvas.Square"], ["Page"]],
        ["Page", "Canvas.Square", "Canvas.Put", "Square.Draw"],
    ),
    "java": (
        "Shape.java",
        (
            "interface Shape { String draw(); }\n\nclass Square implements Shape {\n"
            '    public String draw() { return "square"; }\n}\n\nclass Canvas {\n'
            "    String put(Shape s) { return s.draw(); }\n    String square() { return put(new Square()); }\n}\n\n"
            "class Pages {\n    static String page(Canvas c) { return c.square(); }\n}\n"
        ),
        "Square.draw",
        [["Canvas.put"], ["Canvas.square"], ["Pages.page"]],
        ["Pages.page", "Canvas.square", "Canvas.put", "Square.draw"],
    ),
    "typescript": (
        "draw.ts",
        (
            "export interface Shape { draw(): string }\n\nexport class Square implements Shape {\n"
            "  draw(): string { return 'square'; }\n}\n\nexport class Canvas {\n"
            "  put(s: Shape): string { return s.draw(); }\n  square(): string { return this.put(new Square()); }\n}\n\n"
            "export function page(c: Canvas): string { return c.square(); }\n"
        ),
        "Square.draw",
        [["Canvas.put"], ["Canvas.square"], ["page"]],
        ["page", "Canvas.square", "Canvas.put", "Square.draw"],
    ),
}


@pytest.mark.parametrize("language", SHAPES)
def test_a_walk_goes_on_behind_a_call_by_dispatch(config, language):
    file, program, method, levels, chain = SHAPES[language]
    worker = serve_files(config, {file: program})
    _, callers = ask(worker, "callers", method, depth=3)
    assert [
        _short(row["node"]["id"] for row in callers if row["depth"] == depth)
        for depth in range(1, len(levels) + 1)
    ] == levels
    assert {row["step"] for row in callers if row["depth"] == 1} == {"dispatch"}
    _, impact = ask(worker, "impact", method, depth=3)
    reached = {row["node"]["id"].partition(":")[2] for row in impact if row["impact_type"] == "caller"}
    assert reached == {name for level in levels for name in level}
    assert [row["impact_type"] for row in impact].count("override") == 1
    _, path = ask(worker, "path", chain[0], to=method)
    assert _short(row["node"]["id"] for row in path) == chain
    assert path[-1]["step"] == "dispatch"


def test_of_500_implementations_a_walk_reaches_the_callers_of_the_one(config):
    nodes = [
        ("a:Run", "interface", "a.java"),
        ("a:Run.run", "method", "a.java"),
        ("c:all", "function", "c.java"),
    ]
    edges = [("c:all", "a:Run.run", "calls"), ("d:start", "c:all", "calls")]
    nodes += [("d:start", "function", "d.java")]
    for number in range(500):
        file = f"j{number}.java"
        nodes += [(f"j{number}:J{number}", "class", file), (f"j{number}:J{number}.run", "method", file)]
        nodes += [(f"j{number}:alone", "function", file)]
        edges += [
            (f"j{number}:J{number}", "a:Run", "implements"),
            (f"j{number}:alone", f"j{number}:J{number}.run", "calls"),
        ]
    worker = serve_graph(config, nodes, edges)
    assert ids(worker, "callers", "J7.run", depth=3) == ["j7:alone", "c:all", "d:start"]
    assert set(ids(worker, "impact", "J7.run", depth=3)) == {"a:Run.run", "j7:alone", "c:all", "d:start"}
    assert not ids(worker, "path", "j8:alone", to="J7.run")


def test_a_base_in_the_impact_shows_its_other_overloads_to_those_who_override_it(config):
    file = "a.java"
    nodes = [("a:Base", "class", file), ("a:Heir", "class", file), ("a:Heir.set", "method", file)]
    nodes += [(f"a:Base.set{end}", "method", file) for end in ("", "~2")]
    nodes += [(f"a:{name}", "function", file) for name in ("save", "near", "far")]
    edges = [("a:Heir", "a:Base", "extends")]
    edges += [(f"a:{name}.set", "a:save", "calls") for name in ("Base", "Heir")]
    edges += [("a:near", "a:Base.set", "calls"), ("a:far", "a:Base.set~2", "calls")]
    assert set(ids(serve_graph(config, nodes, edges), "impact", "a:save", depth=2)) == {
        *("a:Base.set", "a:Heir.set", "a:near", "a:far")
    }


def test_what_only_imports_stands_behind_all_others(config):
    nodes = [("a:hub", "function", "a.py"), ("b:near", "function", "b.py"), ("b:far", "function", "b.py")]
    nodes += [("c", "module", "c.py"), ("d", "module", "d.py")]
    edges = [
        ("b:near", "a:hub", "calls"),
        ("b:far", "b:near", "calls"),
        ("c", "a:hub", "imports"),
        ("d", "c", "imports"),
    ]
    edges += [("d", "b:far", "calls")]
    hits, results = ask(serve_graph(config, nodes, edges), "impact", "a:hub", depth=3)
    assert [(row["node"]["id"], row["impact_type"]) for row in results] == [
        ("b:near", "caller"),
        ("b:far", "caller"),
        ("d", "caller"),
        ("c", "importer"),
    ]
    assert hits.summary["by_level"] == {"1": 2, "2": 1, "3": 1}


@pytest.mark.parametrize("suffix", [".py", ".java", ".ts", ".rb", ".swift"])
@settings(max_examples=scaled(10), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_impact_callers_and_paths_agree_in_any_graph(tmp_path_factory, suffix, seed):
    draw = random.Random(seed)
    constructor = {".py": "__init__", ".ts": "constructor", ".rb": "initialize", ".swift": "init"}.get(suffix)
    nodes = [("m", "module", f"m{suffix}")]
    for at in range(draw.randint(1, 8)):
        kind = draw.choice(["class", "class", "interface", "struct"])
        nodes.append((f"m:C{at}", kind, f"m{suffix}"))
        members = (
            member for member in ("run", "run~2", "go", constructor or f"C{at}") if draw.random() < 0.6
        )
        nodes += [(f"m:C{at}.{member}", "method", f"m{suffix}") for member in members]
    nodes += [(f"m:f{at}", "function", f"m{suffix}") for at in range(draw.randint(1, 8))]
    names = [name for name, *_ in nodes]
    types = [name for name, kind, _ in nodes if kind in ("class", "interface", "struct")]
    kinds = ["calls"] * 6 + ["references", "uses_type", "imports"]
    edges = [(draw.choice(names), draw.choice(names), draw.choice(kinds)) for _ in range(draw.randint(0, 30))]
    pairs = ((draw.choice(types), draw.choice(types)) for _ in range(draw.randint(0, 8)))
    # no language has a type above itself
    edges += [
        (sub, base, draw.choice(["extends", "implements", "embeds"])) for sub, base in pairs if sub > base
    ]
    body = {
        "nodes": [{"id": name, "kind": kind, "file": file} for name, kind, file in nodes],
        "edges": [
            {"from": source, "to": to, "type": kind, "location": {"file": f"m{suffix}", "line": at}}
            for at, (source, to, kind) in enumerate(edges)
        ],
    }
    path = tmp_path_factory.mktemp("graph") / "one.seg"
    write_segment_of(path, orjson.dumps(body))
    graph = assemble((open_segment(path),))
    assert list(find_faults(graph, [graph.names.number(name) for name in names[1:]], 3)) == []


def test_a_call_of_an_interface_reaches_the_functions_that_are_given_for_it(config):
    worker = serve_files(
        config,
        {
            "Cmp.java": "interface Cmp {\n    int compare(String a);\n    default Cmp rev() { return this; }\n}\n",
            "Shop.java": (
                "class Shop {\n    static int by(String a) {\n        return weight(a);\n    }\n"
                "    static int weight(String a) { return 1; }\n"
                "    void sort(Cmp c) {\n        c.compare(null);\n    }\n"
                "    void named() {\n        sort(Shop::by);\n    }\n"
                "    void unnamed() {\n        sort(\n            a -> 1);\n    }\n}\n"
            ),
        },
    )
    _, rows = ask(worker, "implementations", "Cmp.compare", context_lines=0)
    assert [(row["node"]["id"], row["given"], row["location"]["line"]) for row in rows] == [
        ("Shop:Shop.by", "function", 10),
        ("Shop:Shop.unnamed", "value", 14),
    ]
    assert sorted(ids(worker, "implementations", "Cmp")) == ["Shop:Shop.by", "Shop:Shop.unnamed"]
    assert ids(worker, "implementations", "Cmp.rev") == []
    hits, rows = ask(worker, "callers", "Shop.by")
    assert [(row["node"]["id"], row.get("via")) for row in rows] == [
        ("Shop:Shop.named", None),
        ("Shop:Shop.sort", "Cmp:Cmp.compare"),
    ]
    hits, rows = ask(worker, "callers", "Cmp.compare")
    assert [row["node"]["id"] for row in rows] == ["Shop:Shop.sort"]
    assert "1 definition gives an unnamed function for it" in hits.suggestion
    _, rows = ask(worker, "path", "Shop.named", to="Shop.weight")
    assert [row["node"]["id"].rpartition(".")[2] for row in rows] == ["named", "sort", "by", "weight"]
    assert {"Shop:Shop.sort", "Shop:Shop.by"} <= {*ids(worker, "impact", "Shop.weight", depth=2)}


@pytest.mark.parametrize("nodes", [[], [("b:Disk", "function", "b.py")]])
def test_an_implementation_of_a_foreign_graph_is_listed(config, nodes):
    """Graphs of other programs may have edges from names that they describe nowhere."""
    nodes = [("a:Store", "interface", "a.py"), *nodes]
    worker = serve_graph(config, nodes, [("b:Disk", "a:Store", "implements", "b.py")])
    assert ids(worker, "implementations", "a:Store") == ["b:Disk"]
