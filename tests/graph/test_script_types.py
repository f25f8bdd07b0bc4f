"""TypeScript types of called values: members of types, index signatures, declaration files, default
exports, and type arguments of a macro.
"""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, project_of

_SHOP = {
    "shop.ts": (
        "export type Send = { (url: string): void; (url: string, more: number): void };\n"
        "export type Names = 'get' | 'put';\n"
        "type StreamFunction = ((url: string) => void) & (() => void);\n"
        "export type Stream = StreamFunction & Record<Names, StreamFunction>;\n"
        "export type Shop = { stream: Stream; copy: (x: number) => Shop; all: ((x: number) => void) & (() => void) }\n"
        "  & Record<Names, Send> & Send;\n"
        "export interface Table { [name: string]: Send }\n"
        "export interface Other extends Outside, Record<string, Send> { own: Stream & { lost: () => void } }\n"
        "export declare function make(): Shop;\n"
    )
}
_MACRO = {
    "macro.ts": (
        "import type { Macro } from 'ava';\nimport type { Shop } from './shop';\n"
        "export type Run = (t: string, shop: Shop) => void;\nconst hook = (): Macro<[Run]> => ({});\n"
        "export default hook();\nexport const labelled: Macro<[string, run: Run]> = {};\n"
        "export const several: Macro<[Run], [Run]> = {};\n"
    )
}
_PARSER = {
    "parse.js": "function parse(css) {}\nmodule.exports = parse;\nparse.default = parse;\n",
    "parse.d.ts": (
        "import { Parser } from './css.js'\ninterface Parse extends Parser { default: Parse }\n"
        "declare let parse: Parse\nexport = parse\n"
    ),
    "css.d.ts": (
        "declare namespace css {\n  export interface Parser { (css: string): string }\n"
        "  export let parse: Parser\n  let hidden: Parser\n  export { css as default }\n}\n"
        "declare function css(): void\nexport = css\n"
    ),
}

#: subject → (path → text, lines of the last file and the targets of its calls)
CASES = {
    "parts of an intersection": (
        {
            **_SHOP,
            "a.ts": (
                "import { type Shop } from './shop';\nfunction f(shop: Shop) {\n  shop('x');\n  shop.stream('x');\n"
                "  shop.copy(1);\n  shop.all(1);\n}\n"
            ),
        },
        {
            (3, "shop:Send.call~2"),
            (4, "shop:StreamFunction.call~2"),
            (5, "shop:Shop.copy"),
            (6, "shop:Shop.all"),
        },
    ),
    "members by index signature, except those of every object": (
        {
            **_SHOP,
            "a.ts": (
                "import type { Shop, Table } from './shop';\nfunction f(shop: Shop, table: Table) {\n"
                "  shop.get('x');\n  shop.copy(1).put('x');\n  shop.stream.get('x');\n  table.save('x');\n"
                "  table.toString();\n}\n"
            ),
        },
        {
            (3, "shop:Send.call~2"),
            (4, "shop:Shop.copy"),
            (4, "shop:Send.call~2"),
            (5, "shop:StreamFunction.call~2"),
            (6, "shop:Send.call~2"),
        },
    ),
    "what a type may have from outside, and a part of a member's own type": (
        {
            **_SHOP,
            "a.ts": "import type { Other } from './shop';\nfunction f(x: Other) {\n  x.save('x');\n  x.lost();\n}\n",
        },
        set(),
    ),
    "members of an implemented interface, and of the interface of a class's name": (
        {
            "duplex.ts": (
                "import { Duplex } from 'node:stream';\ninterface Events { weigh(): void; tip(): void }\n"
                "interface Wide extends Events { carry(): void }\nexport interface Merged { lift(): void }\n"
                "export class Merged extends Duplex implements Wide { weigh() {} }\n"
                "export class Below extends Merged {}\n"
                "export interface Both extends Events { own(): void }\n"
                "export class Both extends Duplex implements Events {}\n"
            ),
            "a.ts": (
                "import { Below, Both, Merged } from './duplex';\n"
                "function f(merged: Merged, below: Below, both: Both) {\n"
                "  merged.weigh();\n  merged.tip();\n  merged.carry();\n  merged.lift();\n"
                "  below.weigh();\n  below.tip();\n  below.lift();\n  both.tip();\n}\n"
            ),
        },
        {
            (3, "duplex:Merged.weigh"),
            (6, "duplex:Merged.lift"),
            (7, "duplex:Merged.weigh"),
            (9, "duplex:Merged.lift"),
            (10, "duplex:Events.tip"),
        },
    ),
    "what is exported by default without a name": (
        {
            **_SHOP,
            "made.ts": "import { make } from './shop';\nexport default make();\n",
            "kept.ts": "export default { load() {} } satisfies Outside;\n",
            "a.ts": "import shop from './made';\nimport kept from './kept';\nshop.copy(1);\nkept.load();\n",
        },
        {(3, "shop:Shop.copy"), (4, "kept:load")},
    ),
    "what a file of declarations declares a function to be": (
        {
            **_PARSER,
            "css.js": (
                "let parse = require('./parse')\nfunction css() {}\ncss.parse = parse\ncss.list = () => {}\n"
                "module.exports = css\ncss.default = css\n"
            ),
            "a.ts": "import css from './css.js'\nimport parse from './parse.js'\ncss.parse('')\nparse('')\n",
        },
        {
            (3, "parse:parse"),
            (3, "css.d:css.Parser.call"),
            (4, "parse:parse"),
            (4, "css.d:css.Parser.call"),
        },
    ),
    "values that a name space exports": (
        {
            "css.d.ts": _PARSER["css.d.ts"],
            "a.ts": "import css from './css.js'\ncss.parse('')\ncss.hidden('')\n",
        },
        {(2, "css.d:css.Parser.call")},
    ),
    "parameters that the macro passed before says": (
        {
            **_SHOP,
            **_MACRO,
            "a.ts": (
                "import test from 'ava';\nimport hook, { labelled, several } from './macro';\n"
                "test('x', hook, async (t, shop) => {\n  shop.copy(1);\n});\n"
                "test('x', labelled, 'y', (t, shop) => { shop.copy(1); });\n"
                "test('x', labelled, (t, shop) => { shop.copy(1); });\n"
                "test('x', several, (t, shop) => { shop.copy(1); });\n"
                "test('x', (t, shop) => { shop.copy(1); });\n"
            ),
        },
        {(4, "shop:Shop.copy"), (6, "shop:Shop.copy")},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_calls_follow_the_declared_type_of_a_value(case):
    texts, wanted = CASES[case]
    project = project_of(texts)
    edges = calls_in(project, list(texts)[-1])
    typed = {edge for edge in edges if edge.confidence != "name"}
    assert {(edge.location.line, edge.target) for edge in typed} == wanted
