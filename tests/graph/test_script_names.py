"""Names of scripts in unnamed functions, as tests use them; objects that a function stores; and
declaration files of scripts.
"""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest
from tests.graph.small_graphs import calls_in, project_of

#: subject → (path → text, lines of the last file and the targets of its calls)
CASES = {
    "one name in two tests": (
        {
            "a.js": (
                "it('one', () => {\n  class Disk { save() {} run() { this.save() } }\n  new Disk().save();\n});\n"
                "it('two', () => {\n  class Disk { save() {} }\n  new Disk().save();\n});\nnew Disk();\n"
            ),
        },
        {
            (2, "a:Disk.save"),
            (3, "a:Disk"),
            (3, "a:Disk.save"),
            (7, "a:Disk~2"),
            (7, "a:Disk.save~2"),
        },
    ),
    "what a test binds, in a function inside it": (
        {
            "a.js": (
                "class Disk { save() {} }\nclass Tape { save() {} }\n"
                "it('one', () => {\n  const x = new Disk();\n  function later() { x.save() }\n});\n"
                "it('two', () => {\n  const x = new Tape();\n  const later = () => { x.save() };\n});\n"
            ),
        },
        {(4, "a:Disk"), (5, "a:Disk.save"), (8, "a:Tape"), (9, "a:Tape.save")},
    ),
    "a script's own exports": (
        {
            "a.js": (
                "exports.save = function () {};\nexports.all = function () {\n  exports.save();\n"
                "  module.exports.save();\n};\n"
            ),
        },
        {(3, "a:save"), (4, "a:save")},
    ),
    "`this` in what a script exports as a whole": (
        {
            "a.js": (
                "function set () {}\nmodule.exports = {\n  get (field) { return field },\n"
                "  size () { return this.get('size') },\n  length: function () { return this.get('length') }\n}\n"
                "exports.last = function () { return this.first() }\nexports.first = function () {}\n"
            ),
        },
        {(4, "a:get"), (5, "a:get"), (7, "a:first")},
    ),
    "what a parameter or a constant named `exports` has": (
        {
            "a.js": (
                "exports.store = function () {};\nclass Disk { store() {} }\n"
                "function go(exports) {\n  exports.store();\n}\n"
                "function come() {\n  const exports = got();\n  exports.store();\n}\nexports.store();\n"
            ),
        },
        {(4, "a:Disk.store"), (8, "a:Disk.store"), (10, "a:store")},
    ),
    "an object's name that a block inside binds again": (
        {
            "a.js": (
                "const held = { store() {} };\nclass Disk { store() {} }\nheld.store();\n"
                "all.forEach(function (held) {\n  held.store();\n});\n"
                "{\n  const held = got();\n  held.store();\n}\n"
                "function go() {\n  const kept = { drop() {} };\n  kept.drop();\n"
                "  if (all) {\n    const kept = new Disk();\n    kept.store();\n  }\n}\n"
            ),
        },
        {(3, "a:held.store"), (5, ""), (9, ""), (13, "a:go.kept.drop"), (15, "a:Disk"), (16, "a:Disk.store")},
    ),
    "an object that a function keeps and gives": (
        {
            "a.ts": (
                "function edit(text: string) {\n  let left = text;\n  const held = {\n"
                "    replace: (x: string) => {\n      left += x;\n      return held;\n    },\n    done: () => left,\n  };\n"
                "  return held;\n}\nedit('a').replace('b').replace('c').done();\n"
            ),
        },
        {(12, "a:edit"), (12, "a:edit.held.replace"), (12, "a:edit.held.done")},
    ),
    "a class's own method beside one of its instances": (
        {
            "a.ts": (
                "class Lexer {\n  static lex() { return new Lexer().lex() }\n  lex() {}\n}\n"
                "Lexer.lex();\nnew Lexer().lex();\n"
            ),
        },
        {(2, "a:Lexer"), (2, "a:Lexer.lex~2"), (5, "a:Lexer.lex"), (6, "a:Lexer"), (6, "a:Lexer.lex~2")},
    ),
    "constants that are taken out of a value, not out of a module": (
        {
            "a.js": (
                "const { it, run: go } = Lab.script();\nconst { read } = require('fs');\n"
                "it('x', () => { go(); read(); });\n"
            ),
        },
        {(3, "a:it"), (3, "a:go")},
    ),
    "members that a file of declarations beside the script has, inherited ones too": (
        {
            "node.js": "class Node {\n  remove() {}\n}\nmodule.exports = Node;\n",
            "node.d.ts": "declare class Base {\n  remove(): this\n}\ndeclare class Node extends Base {}\nexport = Node\n",
            "list.js": "let list = {\n  comma(text) {}\n};\nmodule.exports = list;\n",
            "list.d.ts": (
                "declare namespace list {\n  export interface List {\n    comma(text: string): string[]\n  }\n}\n"
                "declare const list: list.List\nexport default list\n"
            ),
            "a.js": (
                "const Node = require('./node');\nconst list = require('./list');\nconst one = new Node();\n"
                "one.remove();\nlist.comma('a');\n"
            ),
        },
        {
            (3, "node:Node"),
            (3, "node.d:Node"),
            (4, "node:Node.remove"),
            (4, "node.d:Base.remove"),
            (5, "list:list.comma"),
            (5, "list.d:list.List.comma"),
        },
    ),
    "a constant that is declared to have a signature": (
        {
            "a.ts": (
                "type Hook<T = any> = (\n  one: T,\n) => void;\ndeclare function make(): any;\n"
                "export const onMounted: Hook = make();\nonMounted(1);\n"
            ),
        },
        {(5, "a:make"), (6, "a:onMounted")},
    ),
    "what a name space exports by default, of the class that a file exports as a whole": (
        {
            "rule.d.ts": (
                "declare namespace Rule {\n  export { Rule_ as default }\n}\n"
                "declare class Rule_ { clone(): this }\ndeclare class Rule extends Rule_ {}\nexport = Rule\n"
            ),
            "rule.js": "class Rule { clone() {} }\nmodule.exports = Rule\nRule.default = Rule\n",
            "all.d.ts": (
                "import Rule from './rule.js'\ndeclare namespace all {\n  export { Rule, all as default }\n}\n"
                "declare function all(): void\nexport = all\n"
            ),
            "all.js": (
                "let Rule = require('./rule')\nfunction all() {}\nall.Rule = Rule\nmodule.exports = all\n"
                "all.default = all\n"
            ),
            "a.js": "let { Rule } = require('./all')\nnew Rule().clone()\n",
            "b.ts": "import all, { Rule } from './all.js'\nnew Rule().clone()\nall()\n",
        },
        {
            (2, "rule:Rule"),
            (2, "rule.d:Rule_"),
            (2, "rule:Rule.clone"),
            (2, "rule.d:Rule_.clone"),
            (3, "all:all"),
            (3, "all.d:all~2"),
        },
    ),
    "a method that returns its receiver, and the result of a function inside it": (
        {
            "a.ts": (
                "class Disk {\n  save(): this { return this }\n  each() {\n    all.map((x) => { return new Tape(); });\n"
                "    return this;\n  }\n  stop() {}\n}\nclass Fast extends Disk { quick() {} stop() {} }\n"
                "class Tape { stop() {} }\nnew Fast().save().quick();\nnew Fast().each().stop();\n"
            ),
        },
        {
            (4, "a:Tape"),
            (11, "a:Fast"),
            (11, "a:Disk.save"),
            (11, "a:Fast.quick"),
            (12, "a:Fast"),
            (12, "a:Disk.each"),
            (12, "a:Fast.stop"),
        },
    ),
    "values by names": (
        {
            "a.ts": (
                "class Disk { save() {} }\nclass Tape { save() {} }\n"
                "function go(all: { [name: string]: Disk }, some: { [K in Names]?: Tape | null; }) {\n"
                "  all['a'].save();\n  const one = some['b'];\n  one.save();\n}\n"
            ),
        },
        {(4, "a:Disk.save"), (6, "a:Tape.save")},
    ),
    "what a function gives that a constant holds, from a name of its own": (
        {
            "a.ts": (
                "class Disk { save() {} } class Tape { save() {} }\nconst make = async (fast = 1) => {\n  const disk = new Disk();\n"
                "  return disk;\n};\nasync function go() {\n  (await make()).save();\n}\n"
            ),
        },
        {(3, "a:Disk"), (7, "a:make"), (7, "a:Disk.save")},
    ),
    "what a condition chose of two functions": (
        {
            "a.ts": (
                "const put = () => 1;\nconst keep = () => 2;\nconst save = quick ? put : keep;\nsave();\n"
                "function go(save: any) { save() }\n"
            ),
        },
        {(4, "a:put"), (4, "a:keep")},
    ),
    "a class's method before its replacement": (
        {
            "a.ts": (
                "class Disk {\n  async flush() {}\n  close() {\n    this.flush = async () => {};\n  }\n}\n"
                "new Disk().flush();\n"
            ),
        },
        {(7, "a:Disk"), (7, "a:Disk.flush")},
    ),
    "a function of the system that a file exports another of its name beside": (
        {"a.js": "module.exports = {\n  setTimeout(call) {\n    return setTimeout(call);\n  }\n};\n"},
        set(),
    ),
    "a type is not called": (
        {"a.ts": "type Error = { code: string };\nfunction go() { throw new Error('a'); }\n"},
        set(),
    ),
    "a field with the declared type of another value": (
        {
            "make.ts": "export function match<T>(this: T, path: string): T { return this }\n",
            "a.ts": (
                "import { match } from './make';\ninterface Router { match(path: string): void }\n"
                "class Fast implements Router {\n  match: typeof match<Router> = match;\n}\nnew Fast().match('/');\n"
            ),
        },
        {(6, "a:Fast"), (6, "make:match")},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_calls_follow_the_scope_of_their_name(case):
    texts, wanted = CASES[case]
    project = project_of(texts)
    last = list(texts)[-1]
    edges = calls_in(project, last)
    assert {(edge.location.line, edge.target) for edge in edges} == wanted


def test_a_call_of_a_required_module_is_placed_at_its_parentheses():
    text = "const app = require('./app')();\n"
    project = Project(LANGUAGES)
    for path, content in (("app.js", "module.exports = function make() {};\n"), ("a.js", text)):
        project.update({path: facts_of(decode(path, content.encode()), digest(content.encode()))})
    (call,) = calls_in(project, "a.js")
    assert (call.target, call.location.column) == ("app:make", text.index("()"))
