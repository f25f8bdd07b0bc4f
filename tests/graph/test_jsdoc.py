"""Types in JavaScript comments, and TypeScript's types with the module that defines them."""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, project_of

_DISK = {
    "disk.d.ts": (
        "export interface Slot { open(): void }\n"
        "export interface Disk { save(): Disk; slot: Slot }\n"
        "export declare class Fast { save(): Fast }\n"
    )
}
#: subject → (path → text, lines of the last file and the targets of its calls)
CASES = {
    "parameters and results": (
        {
            **_DISK,
            "a.js": (
                "class Own { save() {} }\n/**\n * @param {Own} own what it is\n"
                " * @param {import('./disk').Fast} [fast]\n * @param {{ a: Own }} [made = {}]\n"
                " * @returns {!Own}\n */\n"
                "export function run(own, fast, made, other) {\n  own.save();\n  fast.save().save();\n"
                "  made.save();\n}\nrun().save();\n"
                "/** @param {Own} own */\nexports.come = (own) => own.save();\n"
            ),
        },
        {
            (9, "a:Own.save", "receiver"),
            (10, "disk.d:Fast.save", "receiver"),
            (13, "a:run", "exact"),
            (13, "a:Own.save", "receiver"),
            (15, "a:Own.save", "receiver"),
        },
    ),
    "fields, and their elements": (
        {
            "a.js": (
                "class Own { save() {} }\nclass Other { save() {} }\nclass Held {\n"
                "  /** @type {Own} */\n  #own;\n  constructor(a) {\n    /** @type {Array<Own>} */\n"
                "    this.all = a;\n    this.none = a;\n  }\n"
                "  go() { this.#own.save(); }\n  run() { this.all[0].save(); }\n"
                "  lose() { this.none.save(); }\n"
                "  /** @param {Other} one */\n  come(one) { one.save(); }\n}\n"
            ),
        },
        {(11, "a:Own.save", "receiver"), (12, "a:Own.save", "receiver"), (15, "a:Other.save", "receiver")},
    ),
    "a comment is of the first name below it alone": (
        {
            "a.js": (
                "class Own { save() {} }\nclass Other { save() {} }\n"
                "/** @type {Own} */\nconst one = make(), two = make();\n"
                "const three = make();\n// @type {Own}\nconst four = make();\n"
                "one.save();\ntwo.save();\nthree.save();\nfour.save();\n"
            ),
        },
        {(8, "a:Own.save", "receiver")},
    ),
    "a type from outside": (
        {
            "a.js": (
                "class Own { saveIt() {} }\n/**\n * @param {import('far').Disk} far\n */\n"
                "function run(far, other) {\n  far.saveIt();\n  other.saveIt();\n}\n"
            ),
        },
        {(7, "a:Own.saveIt", "name")},
    ),
    "names of types, except names that the file defines": (
        {
            **_DISK,
            "a.js": (
                "class Own { save() {} }\n/** @typedef {import('./disk').Fast} Quick */\n"
                "/**\n * @typedef {import('./disk').Fast} Own\n * @typedef {Object} Told\n */\n"
                "/**\n * @param {Quick} quick\n * @param {Own} own\n * @param {Told} told\n */\n"
                "function run(quick, own, told) {\n  quick.save();\n  own.save();\n  told.save();\n}\n"
            ),
        },
        {(13, "disk.d:Fast.save", "receiver"), (14, "a:Own.save", "receiver")},
    ),
    "a type that is never closed": (
        {"a.js": "class Own { saveIt() {} }\n/** @type {Own */\nconst own = make();\nown.saveIt();\n"},
        {(4, "a:Own.saveIt", "name")},
    ),
    "members of an object with a type in a comment, and of that type": (
        {
            **_DISK,
            "a.js": (
                "/** @type {import('./disk').Disk} */\nconst disk = { slot: {} };\ndisk.save = function () {};\n"
                "disk.save();\ndisk.slot.open();\n"
            ),
        },
        {
            (4, "a:disk.save", "receiver"),
            (4, "disk.d:Disk.save", "receiver"),
            (5, "disk.d:Slot.open", "receiver"),
        },
    ),
    "members of an object with a declared type, and of that type": (
        {
            **_DISK,
            "a.ts": (
                "import { Slot } from './disk';\nconst slot: Slot = { open() {} };\nslot.open();\n"
                "const disk: import('./disk').Disk = made();\ndisk.save().slot.open();\n"
            ),
        },
        {
            (3, "a:slot.open", "receiver"),
            (3, "disk.d:Slot.open", "receiver"),
            (5, "disk.d:Disk.save", "receiver"),
            (5, "disk.d:Slot.open", "receiver"),
        },
    ),
    "comments say nothing in TypeScript": (
        {
            "a.ts": (
                "class Own { saveIt() {} }\n/** @param {import('far').Disk} far */\n"
                "function run(far) {\n  far.saveIt();\n}\n"
            ),
        },
        {(4, "a:Own.saveIt", "name")},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_comment_decides_the_type_of_the_receiver(case):
    texts, wanted = CASES[case]
    project = project_of(texts)
    edges = calls_in(project, list(texts)[-1])
    assert {(edge.location.line, edge.target, edge.confidence) for edge in edges if edge.target} == wanted
