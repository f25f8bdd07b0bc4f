"""TypeScript's signatures without semicolons are read where they stand."""

import pytest

from cortex.graph.facts.script_lines import ended
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


def test_each_signature_of_an_interface_is_one():
    packed = facts_of(Source("a.ts", tuple(INTERFACE.splitlines())), "0")
    assert packed is not None
    project = Project(Roots())
    project.update({"a.ts": packed})
    found = [(one.qualified, one.line) for one in project.index("a.ts").facts.definitions]
    assert found == [
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
def test_what_is_no_signature_of_its_own_is_left_as_it_is(text):
    lines = text.splitlines()
    assert ended(lines) == lines


def test_columns_stay():
    lines = INTERFACE.splitlines()
    found = ended(lines)
    assert list(map(len, found)) == list(map(len, lines))
    assert [(at, line) for at, line in enumerate(found) if line != lines[at]] == [
        (3, " ;<Key extends keyof Others>(key: Key): Others[Key]"),
        (6, " ;<"),
    ]
