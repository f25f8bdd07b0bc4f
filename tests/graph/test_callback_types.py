"""Values without a declaration: parameters of passed functions, destructured results, members of
returned object literals; and the choice among several imports of one name.
"""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest
from tests.graph.small_graphs import project_of

_SHOP = (
    "export class Disk { save() {} }\nexport class Tape { save() {} }\n"
    "export type Worker = (disk: Disk, next: () => void) => void;\nexport type Any = Worker | string;\n"
    "export interface Options { each?: (tape: Tape) => void }\n"
    "export interface App { get(path: string, worker: Any): void; set(options: Options): void;\n"
    "  (name: string): void; (...workers: Worker[]): void }\n"
    "export declare function app(): App;\n"
)

#: subject → (path → text, lines of the last file and the targets of its calls and references)
CASES = {
    "functions passed where their parameter types are declared, in TypeScript": (
        {
            "shop.ts": _SHOP,
            "a.ts": (
                "import { app, type Worker } from './shop';\nconst one = app();\n"
                "one.get('/', (x) => x.save());\none.set({ each: (x) => x.save() });\n"
                "one(function (x) {\n  x.save();\n});\nconst own: Worker = (x) => x.save();\n"
                "unknown((x) => x.save());\n"
            ),
        },
        {
            (2, "shop:app"),
            (3, "shop:App.get"),
            (3, "shop:Disk.save"),
            (4, "shop:App.set"),
            (4, "shop:Tape.save"),
            (5, "shop:App.call~2"),
            (6, "shop:Disk.save"),
            (8, "shop:Disk.save"),
            (9, "shop:Disk.save | shop:Tape.save"),
        },
    ),
    "members of a returned object, in JavaScript": (
        {
            "made.js": (
                "function make() {\n  function begin() {}\n  items.map(function () { return { lost() {} } })\n"
                "  return { begin, end() {}, again: begin }\n}\nmodule.exports.make = make\n"
            ),
            "a.js": (
                "const { make } = require('./made')\nconst one = make()\none.begin()\none.end()\none.again()\none.lost()\n"
            ),
        },
        {(2, "made:make"), (3, "made:make.begin"), (4, "made:make.end"), (5, "made:make.begin")},
    ),
    "a script and its declaration file, on an unknown receiver": (
        {
            "disk.d.ts": "export interface Disk {\n  spinUp(fast: boolean): void;\n}\n",
            "disk.js": "class Platter {\n  spinUp() {}\n}\n",
            "a.js": "function run(x) {\n  x.y.spinUp();\n}\n",
        },
        {(2, "disk.d:Disk.spinUp"), (2, "disk:Platter.spinUp")},
    ),
    "parts of a function's result, in Rust": (
        {
            "a.rs": (
                "struct Disk; impl Disk { fn save(&self) {} }\nstruct Tape; impl Tape { fn save(&self) {} }\n"
                "fn both() -> Result<(Disk, Tape), String> { todo() }\nfn f(z: Option<Disk>) {\n"
                "  let (x, y) = both()?;\n  x.save();\n  y.save();\n  let Some(w) = z else { return };\n  w.save();\n}\n"
            ),
        },
        {(5, "a:both"), (6, "a:Disk.save"), (7, "a:Tape.save"), (9, "a:Disk.save")},
    ),
    "parts of a function's result, in Python": (
        {
            "a.py": (
                "class Disk:\n    def save(self): ...\nclass Tape:\n    def save(self): ...\n"
                "def both() -> tuple[Disk, Tape]: ...\ndef f(z: Tape):\n    x, y = both()\n    x.save()\n"
                "    y.save()\n    v, w = z, Disk()\n    v.save()\n    w.save()\n"
            ),
        },
        {
            (7, "a:both"),
            (8, "a:Disk.save"),
            (9, "a:Tape.save"),
            (10, "a:Disk"),
            (11, "a:Tape.save"),
            (12, "a:Disk.save"),
        },
    ),
    "macros at the top that are given a type, in C++": (
        {
            "a.h": "namespace shop {\nclass Disk { public: void save() {} };\nint weigh(int x) { return x; }\n}\n",
            "a.cpp": (
                '#include "a.h"\nSHOP_FLAG(bool, shop, true,\n          "Whether (or not) to sell");\n'
                'SHOP_FLAG(int32_t, disks, -1, "How many");\nnamespace shop {\nnamespace {\nvoid f(Disk& x) {\n'
                "  x.save();\n  shop::weigh(1);\n}\n}\n}\n"
            ),
        },
        {(8, "a.h:shop.Disk.save"), (9, "a.h:shop.weigh")},
    ),
    "variants of an enum, made and matched, in Rust": (
        {
            "a.rs": (
                "enum Shape { Circle(u8), Empty }\nimpl Shape { fn draw(&self) {} }\nfn f() {\n"
                "  let x = Shape::Circle(1);\n  x.draw();\n  match x {\n    Shape::Circle(r) => {}\n    Shape::Empty => {}\n"
                "  }\n}\n"
            ),
        },
        {(4, "a:Shape.Circle"), (5, "a:Shape.draw"), (7, "a:Shape.Circle, a value")},
    ),
    "an import that only a switch of the build's own turns on, in Rust": (
        {
            "src/node.rs": "pub fn req() {}\n",
            "src/util.rs": "pub fn req() {}\n",
            "src/main.rs": (
                "mod node;\nmod util;\nuse util::*;\n#[cfg(test_node)]\nuse node::req;\nfn f() {\n  req();\n}\n"
            ),
        },
        {(7, "src/util:req")},
    ),
}


#: subject of the edit → (path → text, the file, the replaced text and its replacement)
EDITS = {
    "a type between a function that is passed on and a constructor": (
        {
            "shop.ts": "export class Disk { save() {} }\nexport class Tape { save() {} }\n",
            "item.ts": "import { Disk, Tape } from './shop';\nexport type Item = Disk;\n",
            "worker.ts": "import { Item } from './item';\nexport type Worker = (item: Item) => void;\n",
            "app.ts": "import { Worker } from './worker';\nexport class App { constructor(x: Worker) {} }\n",
            "a.ts": "import { App } from './app';\nnew App((x) => x.save());\n",
        },
        ("item.ts", "= Disk", "= Tape"),
    ),
    "an alias of a block's receiver": (
        {
            "shop.kt": "package a\nclass Disk {\n fun save() {}\n}\nclass Tape {\n fun save() {}\n}\n",
            "item.kt": "package a\ntypealias Item = Disk\n",
            "ext.kt": "package a\nfun build(block: Item.() -> Unit) {}\n",
            "a.kt": "package a\nfun f() {\n build { save() }\n}\n",
        },
        ("item.kt", "= Disk", "= Tape"),
    ),
    "a package alone": (
        {
            "shop.kt": "package a\nfun save() {}\n",
            "a.kt": "package a\nfun f() {\n save()\n}\n",
        },
        ("shop.kt", "package a", "package b"),
    ),
}


def _facts(path, text):
    return facts_of(decode(path, text.encode()), digest(text.encode()))


def _edges(project, path):
    return set(edges_of(project, Evaluator(project), path))


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_a_names_type_reaches_the_files_that_use_the_name(edit):
    files, (edited, old, new) = EDITS[edit]
    project, last = Project(LANGUAGES), list(files)[-1]
    project.update({path: _facts(path, text) for path, text in files.items()})
    before = _edges(project, last)
    affected = project.update({edited: _facts(edited, files[edited].replace(old, new))})
    assert _edges(project, last) != before
    assert last in affected


#: lines of Kotlin → the lines of the definitions that they call
CALLED = {
    'fun f(a: Int, b: String) {}\nfun f(a: String, b: Int) {}\nfun g() { f(a = 1, "x") }\n': {"a:f"},
    "class A {\n fun x() {}\n}\nclass B {\n fun x() {}\n}\nfun f(a: Int): A = A()\nfun f(a: Int, b: Int): B = B()\n"
    "fun g() { f(/* a */ 1).x() }\n": {"a:A.x", "a:f"},
}


@pytest.mark.parametrize("text", CALLED)
def test_arguments_are_counted_by_their_places(text):
    project = Project(LANGUAGES)
    project.update({"a.kt": _facts("a.kt", text)})
    line = text.count("\n")
    calls = [edge for edge in _edges(project, "a.kt") if edge.type == "calls" and edge.location.line == line]
    assert {edge.target for edge in calls} == CALLED[text]


@pytest.mark.parametrize("case", CASES)
def test_a_parameter_has_the_type_that_its_surroundings_declare(case):
    files, wanted = CASES[case]
    project = project_of(files)
    targets = {
        (
            edge.location.line,
            (edge.target or " | ".join(edge.candidates)) + ", a value" * (edge.type == "references"),
        )
        for edge in edges_of(project, Evaluator(project), list(files)[-1])
        if edge.type in ("calls", "references")
    }
    assert targets == wanted
