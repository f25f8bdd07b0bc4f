"""The amount of search, by counts of walks and lookups, which are equal on any machine."""

import gc
from collections import Counter

import pytest

from cortex.graph.facts.expressions import function_values
from cortex.graph.facts.facts import Reference
from cortex.graph.facts.grammars import Rules
from cortex.graph.facts.reaching_bindings import Meanings
from cortex.graph.facts.tables import FileIndex, Packed
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution import project as projects
from cortex.graph.resolution.calling.targets import Targets
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.scopes import Scopes
from cortex.graph.resolution.evaluation.values import OVERLOADS_MAX, Recursion
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.resolve import edges_of
from cortex.graph.resolution.types.owners import Owners
from cortex.graph.resolution.types.supertypes import Supertypes
from cortex.graph.sweep import references
from cortex.indexer.store.graph_bodies import Bodies, Tools
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.store.graph_shards import State
from cortex.indexer.store.graph_tasks import ResolveTask, make_rounds
from cortex.indexer.syntax.source import Source, decode, digest

FUNCTIONS = 40
#: fields that form a circle of types: fewer than the maximal depth of evaluations
CIRCLE = 6


def read(text: str, path: str = "a.kt", elsewhere: str = "package elsewhere\n") -> Project:
    return read_all({path: text, "elsewhere/b.kt": elsewhere})


def read_all(texts: dict[str, str]) -> Project:
    facts = {}
    for path, text in texts.items():
        source = decode(path, text.encode())
        assert isinstance(source, Source)
        facts[path] = facts_of(source, digest(text.encode()))
    project = Project(LANGUAGES)
    project.update(facts)
    return project


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Name → how often the scopes around a place were searched for it."""
    counted: Counter[str] = Counter()
    walk = Scopes._search_scopes

    def counting(self: Scopes, name: str, path: str, scope: int, at: int) -> object:
        counted[name] += 1
        return walk(self, name, path, scope, at)

    monkeypatch.setattr(Scopes, "_search_scopes", counting)
    return counted


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Number of searches that began, or stopped at once."""
    counted, enter = [0], Recursion.enter

    def counting(self: Recursion, key: object, *, allowed: bool = True) -> int | None:
        counted[0] += 1
        return enter(self, key, allowed=allowed)

    monkeypatch.setattr(Recursion, "enter", counting)
    return counted


def test_a_foreign_name_is_searched_once_for_all_functions_of_a_type(walks):
    bodies = "\n".join(f"    fun f{n}(): Foreign {{ return foreign({n}) }}" for n in range(FUNCTIONS))
    elsewhere = "package elsewhere\nclass Foreign\nfun foreign(n: Int) = Foreign()\n"
    project = read(f"class Disk {{\n{bodies}\n}}\n", elsewhere=elsewhere)
    edges_of(project, Evaluator(project), "a.kt")
    assert 1 <= walks["foreign"] <= 2
    assert 1 <= walks["Foreign"] <= 2


def test_blocks_are_looked_for_only_in_scopes_that_have_some(monkeypatch):
    plain = "\n".join(f"    fun f{n}() {{ disk.save({n}); other({n}) }}" for n in range(FUNCTIONS))
    block = "    fun last() { disk.apply { save(1) } }"
    project = read(f"class Disk {{\n    val disk = Disk()\n    fun save(n: Int) {{}}\n{plain}\n{block}\n}}\n")
    lookups, at = Counter[str](), Meanings.at

    def counting(self: Meanings, place: int) -> object:
        lookups["at"] += 1
        return at(self, place)

    monkeypatch.setattr(Meanings, "at", counting)
    edges = edges_of(project, Evaluator(project), "a.kt")
    assert [edge.target for edge in edges if edge.source == "a:Disk.last"] == ["a:Disk.save"]
    assert lookups["at"] <= FUNCTIONS, lookups


def test_names_that_no_file_defines_are_not_searched(walks):
    lines = "\n".join(f"def f{n}(disk) -> Missing:\n    foreign({n}), disk.size().add({n})" for n in range(3))
    called = "def save(): pass\ndef last():\n    made = save\n    made()\n    save()\n"
    project = read(f"{lines}\n{called}", "a.py")
    edges = edges_of(project, Evaluator(project), "a.py")
    assert [edge.target for edge in edges if edge.type == "calls"] == ["a:save"] * 2
    assert not walks.keys() & {"Missing", "foreign", "disk"}
    assert walks["made"]  # a variable, which may hold any value


def test_types_that_inherit_the_same_share_one_search(monkeypatch):
    line = "\n".join(f"class Line{n}(Line{n + 1}): pass" for n in range(FUNCTIONS))
    types = "\n".join(f"class Disk{n}(Line0):\n    def go(self): self.save()\n" for n in range(FUNCTIONS))
    last = f"class Line{FUNCTIONS}:\n    def save(self): pass\n"
    project = read(f"{last}{line}\n{types}", "a.py")
    lookups, own_member, base = Counter[str](), Members._own_member, Supertypes.base

    def counting_member(self: Members, owner: Ref, name: str) -> object:
        lookups[name] += 1
        return own_member(self, owner, name)

    def counting_base(self: Supertypes, owner: Ref, chain: str) -> object:
        lookups[chain] += 1
        return base(self, owner, chain)

    monkeypatch.setattr(Members, "_own_member", counting_member)
    monkeypatch.setattr(Supertypes, "base", counting_base)
    edges = edges_of(project, Evaluator(project), "a.py")
    assert {edge.target for edge in edges if edge.type == "calls"} == {f"a:Line{FUNCTIONS}.save"}
    assert len([edge for edge in edges if edge.type == "calls"]) == FUNCTIONS
    assert lookups["save"] <= 3 * FUNCTIONS, lookups
    assert lookups["Line20"] <= 3, lookups


def opened(copies: int) -> Project:
    """Return copies of a Ruby library, each file of which opens its name space."""
    parts = 4
    texts = {
        f"copy{copy}/part{at}.rb": f"module Shop\n  extend Shop::Part{(at + 1) % parts}\n  module Part{at}\n"
        f"    include Shop::Part{(at + 2) % parts}\n    def go{at}\n      Shop::Part{(at + 1) % parts}.go{at}\n"
        "    end\n  end\nend\n"
        for copy in range(copies)
        for at in range(parts)
    }
    return read_all(texts)


def test_searches_grow_linearly_with_copies_of_a_library(begun):
    counted = []
    for copies in (4, 16):
        project = opened(copies)
        begun[0] = 0
        evaluator = Evaluator(project)
        assert all(edges_of(project, evaluator, path) for path in project.packed)
        counted.append(begun[0])
    assert counted[1] <= 5 * counted[0], counted


def test_searches_do_not_double_with_each_copy_of_a_circular_type(begun):
    counted = []
    for copies in (8, 16):  # 2.4 seconds with stored partial results, hours without
        texts = {}
        for at in range(copies):
            texts[f"copy{at}/caching.rb"] = (
                "module Shop\n  module Caching\n    include Caching::Part\n    def go\n      Support.run\n"
                "    end\n  end\nend\n"
            )
            texts[f"copy{at}/part.rb"] = (
                "module Shop\n  module Caching\n    module Part\n      extend Support::Concern\n    end\n  end\nend\n"
            )
            texts[f"copy{at}/support.rb"] = (
                "module Support\n  module Concern\n  end\n  def self.run\n  end\nend\n"
            )
        project = read_all(texts)
        begun[0] = 0
        edges = edges_of(project, Evaluator(project), "copy0/caching.rb")
        parts = {f"copy{at}/part:Shop.Caching.Part" for at in range(copies)}
        assert {edge.target for edge in edges if edge.type == "embeds"} == parts
        counted.append(begun[0])
    assert counted[0] < 10_000, counted
    assert counted[1] <= 4 * counted[0], counted


def test_fields_of_copied_classes_are_not_searched(begun):
    counted = []
    for copies in (1, 5):
        assignment = "$this->{} = $this->{}->go();"
        fields = " ".join(assignment.format(target, other) for target, other in ("ab", "bc", "ca"))
        text = (
            "<?php\nnamespace Shop;\nclass Disk {\n  private $a; private $b; private $c;\n"
            f"  function __construct() {{ {fields} }}\n  function go() {{ return $this->a->go(); }}\n"
            "  function run() { $this->a->save(); }\n}\n"
        )
        project = read_all({f"copy{at}/Disk.php": text for at in range(copies)})
        begun[0] = 0
        edges_of(project, Evaluator(project), "copy0/Disk.php")
        counted.append(begun[0])
    assert counted[1] <= 3 * counted[0], counted


def test_fields_that_hold_each_other_are_looked_for_once(begun):
    fields = "\n".join(f"    @at{n} = @at{(n + 1) % CIRCLE}" for n in range(CIRCLE))
    calls = "\n".join(f"  def f{n}\n    @at0.save\n  end" for n in range(FUNCTIONS))
    text = f"class Disk\n  def initialize\n{fields}\n  end\n{calls}\n  def save\n  end\nend\n"
    project = read(text, "a.rb")
    edges = edges_of(project, Evaluator(project), "a.rb")
    assert len([edge for edge in edges if edge.type == "calls"]) == FUNCTIONS
    assert begun[0] <= 6 * (CIRCLE + FUNCTIONS), begun


def test_the_methods_of_modules_are_looked_through_once_for_each_name(monkeypatch):
    modules = "\n".join(f"module Part{n}\n  def store\n  end\nend" for n in range(FUNCTIONS))
    calls = "\n".join(f"  def f{n}\n    store(1)\n  end" for n in range(FUNCTIONS))
    project = read_all({"a.rb": f"{modules}\n", "b.rb": f"module Disk\n{calls}\nend\n"})
    lookups, of = Counter[str](), Owners.of

    def counting(self: Owners, path: str, index: int) -> Ref | None:
        lookups[path] += 1
        return of(self, path, index)

    monkeypatch.setattr(Owners, "of", counting)
    edges_of(project, Evaluator(project), "b.rb")
    assert FUNCTIONS <= lookups["a.rb"] <= 3 * FUNCTIONS, lookups


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.rb", "class Order{n}\n  def update; end\n  def go(order{n}); order{n}.update; end\nend\n"),
        (
            "a.swift",
            "struct S{n} {{ subscript(at: Int) -> Int {{ return go() }} }}\nfunc f{n}(all: [S{n}]) {{ _ = all[1] }}\n",
        ),
    ],
)
def test_methods_of_a_common_name_are_looked_through_once(monkeypatch, path, text):
    project, counted = read("".join(text.format(n=number) for number in range(FUNCTIONS)), path), Counter()
    define = Project.definition

    def counting(self: Project, ref: Ref) -> object:
        counted[ref] += 1
        return define(self, ref)

    monkeypatch.setattr(Project, "definition", counting)
    list(edges_of(project, Evaluator(project), path))
    assert counted.total() < FUNCTIONS**2


def test_a_resolved_file_leaves_no_reference_cycle():
    project = opened(4)
    tools = Tools(project)
    gc.collect()
    gc.disable()
    try:
        assert all(edges_of(project, tools.evaluator, path) for path in project.packed)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_files_with_common_dependencies_are_resolved_while_those_are_unpacked(monkeypatch):
    packages, size = 12, 8
    texts = {
        f"{'abcdefgh'[at]}/p{package}.java": f"package p{package};\nclass C{at} {{\n  C{(at + 1) % size} next;\n"
        f"  void go() {{ next.go(); new C{(at + 3) % size}().go(); }}\n}}\n"
        for package in range(packages)
        for at in range(size)
    }
    project, unpacked = read_all(texts), Counter[str]()

    def counting(packed: Packed, rules: Rules) -> FileIndex:
        unpacked[packed.path] += 1
        return FileIndex(packed, rules)

    monkeypatch.setattr(projects, "FileIndex", counting)
    monkeypatch.setattr(projects, "UNPACKED_MAX", 20 * size)  # far fewer than the files
    for path in texts:  # a folder has a file of each package
        project._forget(path)
    bodies = Bodies(Tools(project), None, {})
    first, _ = make_rounds(project.packed, State(shards=8), None, range(8), run="", folder="")
    for task in first:  # tasks that one process may get in sequence
        if isinstance(task, ResolveTask):
            bodies.resolve_ahead(task.paths)
    assert bodies.ahead.keys() == texts.keys()
    assert unpacked.total() <= 1.5 * len(texts), unpacked.total()
    _, edges, _ = bodies.build_body(["h/p0.java"], {})["h/p0.java"]
    assert "a/p0:C0.go" in {edge["to"] for edge in edges}


def test_surroundings_of_rubys_names_are_read_only_where_they_decide(monkeypatch: pytest.MonkeyPatch):
    """A look at a node's parent walks down from the root."""
    looks: list[str] = []
    for module, name in ((function_values, "_names_method"), (references, "is_assigned")):
        monkeypatch.setattr(module, name, lambda _, name=name: bool(looks.append(name)))
    calls = "  save item\n  disk.save item\n  item = disk\n  item\n  disk\n" * FUNCTIONS
    read_all({"a.rb": f"def all(disk, item)\n{calls}  store\n  disk.size\nend\n"})
    assert looks == ["is_assigned", "_names_method"]


def test_a_subscript_looks_at_no_more_extensions_than_a_type_may_have_overloads(monkeypatch):
    looked, accepts = [0], Targets.accepts

    def counting(self: Targets, ref: Ref, reference: Reference) -> bool:
        looked[0] += 1
        return accepts(self, ref, reference)

    monkeypatch.setattr(Targets, "accepts", counting)
    counts = []
    for count in (OVERLOADS_MAX // 2, 2 * OVERLOADS_MAX, 4 * OVERLOADS_MAX):
        looked[0] = 0
        project = read_all(
            {
                f"a{at}.swift": f"struct Box{at} {{}}\nextension Array where Element == Box{at} {{\n"
                f"    subscript(name key: String) -> Int {{ return 1 }}\n}}\n"
                f"func go{at}(boxes: [Box{at}]) -> Int {{ return boxes[name: 'a'] }}\n".replace("'", '"')
                for at in range(count)
            }
        )
        evaluator = Evaluator(project)
        assert all(edges_of(project, evaluator, path) for path in project.packed)
        counts.append(looked[0])
    few, more, most = counts
    assert few, "the subscripts of some extensions are compared"
    assert most <= 2 * max(more, few), counts


def _count_calls(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[int]:
    counted, original = [0], getattr(owner, name)

    def counting(*arguments, **named):
        counted[0] += 1
        return original(*arguments, **named)

    monkeypatch.setattr(owner, name, counting)
    return counted


def test_each_specialisation_is_searched_once_for_a_member(monkeypatch: pytest.MonkeyPatch):
    counted, counts = _count_calls(monkeypatch, Members, "_own_member"), []
    for size in (20, 40):
        special = "".join(f"template<> struct S<X{at}> {{ void go(); }};\n" for at in range(size))
        text = f"template<class T> struct S;\n{special}"
        text += "template<class T> struct H : S<T> { void f() { this->other(); this->go(); } };\n"
        project = read_all({"a.cpp": text})
        counted[0] = 0
        assert edges_of(project, Evaluator(project), "a.cpp")
        counts.append(counted[0])
    assert counts[1] <= 3 * counts[0], counts


def test_a_module_that_many_tests_include_is_searched_once_for_a_name(monkeypatch: pytest.MonkeyPatch):
    counted = _count_calls(monkeypatch, Members, "member_of_kind")
    texts = {f"test/a{at}_test.rb": f"include Util\nname{at} 1\n" for at in range(FUNCTIONS)}
    owners = "".join(f"class C{at}\n  def name{at}(n)\n  end\nend\n" for at in range(FUNCTIONS))
    project = read_all(texts | {"test/u.rb": f"module Util\n  def fetch\n  end\nend\n{owners}"})
    evaluator = Evaluator(project)
    for path in texts:
        edges_of(project, evaluator, path)
    assert 0 < counted[0] <= 4 * FUNCTIONS
