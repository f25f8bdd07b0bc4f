"""Results of PHP functions without a declared type, and members of a class from comments."""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest
from tests.graph.small_graphs import calls_in

#: two classes that precede line 1 of each case
_DISKS = (
    "<?php class Disk { function save() { return $this; } function size() {} }"
    " class Fast extends Disk { function quick() {} }\n"
)
#: subject → (text after the classes, lines and the targets of their calls)
CASES = {
    "a result that no type is written of": (
        "function made() { return new Disk(); }\nmade()->size();\n",
        {(2, "a:Disk"), (3, "a:made"), (3, "a:Disk.size")},
    ),
    "what a function without a name gives is none of the function around it": (
        "function made() { each(function () { return new Disk(); }); return new Fast(); }\nmade()->quick();\n",
        {(2, "a:Disk"), (2, "a:Fast"), (3, "a:made"), (3, "a:Fast.quick")},
    ),
    "a method that returns its receiver": (
        "function go(Fast $fast) { $fast->save()->quick(); }\n",
        {(2, "a:Disk.save"), (2, "a:Fast.quick")},
    ),
    "methods that only a comment names": (
        (
            "/**\n * @method Disk mount(string $at) where it is\n * @method static Fast fast()\n */\n"
            "class Store {}\nfunction go(Store $store) { $store->mount('a')->size(); Store::fast()->quick(); }\n"
        ),
        {(7, "a:Store.mount"), (7, "a:Disk.size"), (7, "a:Store.fast"), (7, "a:Fast.quick")},
    ),
    "a method that is there beside the comment of its name": (
        (
            "/** @method Disk mount(string $at) */\nclass Store { function mount($at) {} }\n"
            "function go(Store $store) { $store->mount('a'); }\n"
        ),
        {(4, "a:Store.mount")},
    ),
    "calls that are passed on to another class, but for its own": (
        (
            "/** @mixin Disk */\nclass Store { function size() {} }\n"
            "function go(Store $store) { $store->save(); $store->size(); }\n"
        ),
        {(4, "a:Disk.save"), (4, "a:Store.size")},
    ),
    "what a type parameter has to be, of a function or the class around it": (
        (
            "/** @template T of Disk */\nclass Box {\n  /** @param T $disk */\n"
            "  function put($disk) { $disk->size(); }\n  /** @template U of Fast\n   * @param U $fast\n   * @return U */\n"
            "  function same($fast) { $fast->quick(); }\n}\nfunction go(Box $box) { $box->same(1)->quick(); }\n"
        ),
        {(5, "a:Disk.size"), (9, "a:Fast.quick"), (11, "a:Box.same"), (11, "a:Fast.quick")},
    ),
    "an instance of the class in a function's argument": (
        (
            "class Store {\n  /** @template T\n   * @param class-string<T> $class\n   * @return T|null */\n"
            "  function get(string $class) {}\n  function find(string $class): Disk {}\n}\n"
            "function go(Store $store, string $any) {\n  $store->get(Fast::class)->quick();\n"
            "  $fast = $store->get(Fast::class);\n  $fast->save()->quick();\n  $store->get($any)->size();\n"
            "  $store->find(Fast::class)->save();\n}\n"
        ),
        {
            (10, "a:Store.get"),
            (10, "a:Fast.quick"),
            (11, "a:Store.get"),
            (12, "a:Disk.save"),
            (12, "a:Fast.quick"),
            (13, "a:Store.get"),
            (14, "a:Store.find"),
            (14, "a:Disk.save"),
        },
    ),
    "a type parameter that may be anything": (
        "/** @template Item */\nclass Box {\n  /** @param Item $item */\n  function put($item) { $item->size(); $item->quick(); }\n}\n",
        {(5, "a:Fast.quick")},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_php_calls_follow_types_in_code_and_comments(case):
    text, wanted = CASES[case]
    project = Project(LANGUAGES)
    source = (_DISKS + text).encode()
    project.update({"a.php": facts_of(decode("a.php", source), digest(source))})
    calls = calls_in(project, "a.php")
    assert {(edge.location.line, edge.target) for edge in calls} == wanted


def test_a_method_declared_in_a_comment_has_the_line_of_its_tag():
    source = b"<?php\n/**\n * @method Disk one()\n * @method Disk two()\n */\nclass Store {}\n"
    facts = facts_of(decode("a.php", source), digest(source))
    project = Project(LANGUAGES)
    project.update({"a.php": facts})
    definitions = project.index("a.php").facts.definitions
    lines = {
        definition.name: (definition.start_line, definition.line, definition.end_line)
        for definition in definitions
    }
    assert lines == {"Store": (6, 6, 6), "one": (3, 3, 3), "two": (4, 4, 4)}
