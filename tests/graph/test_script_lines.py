"""TypeScript's signatures without semicolons keep their places."""

import pytest

from cortex.graph.facts.repairs.misread_lines import end_signatures
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project, Roots
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import Source

INTERFACE = """interface Get {
  <Key extends keyof Names>(key: Key): Names[Key]
  /** those of others */
  <Key extends keyof Others>(key: Key): Others[Key]

  // all of them
  <
    Key extends string,
  >(key: Key): Disk<Key>
}
export class Disk {
  get: Get
  save() {}
}
"""


def test_each_call_signature_of_an_interface_is_a_definition():
    packed = facts_of(Source("a.ts", tuple(INTERFACE.splitlines())), "0")
    assert packed is not None
    project = Project(LANGUAGES, Roots())
    project.update({"a.ts": packed})
    definitions = [
        (definition.qualified, definition.line) for definition in project.index("a.ts").facts.definitions
    ]
    assert definitions == [
        ("Get", 1),
        ("Get.call", 2),
        ("Get.call", 4),
        ("Get.call", 7),
        ("Disk", 11),
        ("Disk.save", 13),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "type A =\n  <T>(x: T) => T",
        "interface A {\n  <T>(x: T): T;\n  <U>(x: U): U\n}",
        "export const make = async (\n  <T>x,\n) => {\n  <T>x\n}",
        "type A = Map\n<K>",
        "const a = x\n  < 3",
    ],
)
def test_lines_that_begin_no_signature_stay(text):
    lines = text.splitlines()
    assert end_signatures(lines) == lines


def test_inserted_semicolons_move_no_column():
    lines = INTERFACE.splitlines()
    output = end_signatures(lines)
    assert list(map(len, output)) == list(map(len, lines))
    assert [(at, line) for at, line in enumerate(output) if line != lines[at]] == [
        (3, " ;<Key extends keyof Others>(key: Key): Others[Key]"),
        (6, " ;<"),
    ]
