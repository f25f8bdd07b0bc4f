"""What a name is that no declaration of its own says: a parameter of a function that is passed on,
a part of what a function gives, what an object literal that is returned holds; and which of
several imports of one name holds.
"""

from __future__ import annotations

import pytest

from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest

_SHOP = (
    "export class Disk { save() {} }\nexport class Tape { save() {} }\n"
    "export type Worker = (disk: Disk, next: () => void) => void;\nexport type Any = Worker | string;\n"
    "export interface Options { each?: (tape: Tape) => void }\n"
    "export interface App { get(path: string, worker: Any): void; set(options: Options): void;\n"
    "  (name: string): void; (...workers: Worker[]): void }\n"
    "export declare function app(): App;\n"
)

#: what is shown → (path → text, lines of the last file and the targets of its calls and references)
CASES = {
    "functions passed to what says what it passes them, in TypeScript": (
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
    "what a returned object holds, in JavaScript": (
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
    "a script and the file of declarations beside it, on an unknown receiver": (
        {
            "disk.d.ts": "export interface Disk {\n  spinUp(fast: boolean): void;\n}\n",
            "disk.js": "class Platter {\n  spinUp() {}\n}\n",
            "a.js": "function run(x) {\n  x.y.spinUp();\n}\n",
        },
        {(2, "disk.d:Disk.spinUp"), (2, "disk:Platter.spinUp")},
    ),
    "parts of what a function gives, in Rust": (
        {
            "a.rs": (
                "struct Disk; impl Disk { fn save(&self) {} }\nstruct Tape; impl Tape { fn save(&self) {} }\n"
                "fn both() -> Result<(Disk, Tape), String> { todo() }\nfn f(z: Option<Disk>) {\n"
                "  let (x, y) = both()?;\n  x.save();\n  y.save();\n  let Some(w) = z else { return };\n  w.save();\n}\n"
            ),
        },
        {(5, "a:both"), (6, "a:Disk.save"), (7, "a:Tape.save"), (9, "a:Disk.save")},
    ),
    "parts of what a function gives, in Python": (
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


@pytest.mark.parametrize("shown", CASES)
def test_a_name_is_what_those_around_it_say(shown):
    files, wanted = CASES[shown]
    project = Project()
    project.update(
        {path: facts_of(decode(path, text.encode()), digest(text.encode())) for path, text in files.items()}
    )
    found = {
        (
            edge.location.line,
            (edge.target or " | ".join(edge.candidates)) + ", a value" * (edge.type == "references"),
        )
        for edge in edges_of(project, Evaluator(project), list(files)[-1])
        if edge.type in ("calls", "references")
    }
    assert found == wanted
