"""Members that Swift's extensions and the bounds of its type parameters add to types."""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, facts_in, project_of

_TYPES = """struct Disk { func save() {} }
struct Tape { func save() {} }
protocol Named { func named() }
protocol Sized { func sized() }
"""


def _calls(text: str) -> set[tuple[str, str]]:
    """Return (text of the line from `/*` on, target of its call)."""
    source = _TYPES + text
    edges = calls_in(project_of({"a.swift": source}), "a.swift")
    lines = source.split("\n")
    return {(lines[edge.location.line - 1].strip(), edge.target.partition(":")[2]) for edge in edges}


def test_computed_properties_of_extensions_have_calls_and_types():
    calls = _calls("""extension Disk {
  func helper() {}
  var twin: Disk {
    helper()
    return self
  }
  static var shared: Tape {
    get {
      return Tape()
    }
  }
  func run() {
    twin.save()
    twin()
  }
}
func f(d: Disk, x: Unknown) {
  d.twin.save()
  Disk.shared.save()
  x.twin()
}
""")
    assert ("helper()", "Disk.helper") in calls
    assert {("twin.save()", "Disk.save"), ("d.twin.save()", "Disk.save")} <= calls
    assert ("Disk.shared.save()", "Tape.save") in calls
    assert not [line for line, _ in calls if line in ("twin()", "x.twin()")]


def test_strings_and_arrays_have_the_members_of_their_extensions():
    calls = _calls("""extension String {
  func shout() {}
  func each() {}
}
extension Array {
  func each() {}
}
extension [Disk] {
  func spin() {}
}
extension Set {
  func pick() {}
}
extension Array {
  func pick() {}
}
func f(ds: [Disk], d: Disk) {
  "x".shout()
  "x".each()
  ds.each()
  ds.spin()
  ds.pick()
  d.spin()
  3.shout()
}
""")
    assert calls == {
        ('"x".shout()', "String.shout"),
        ('"x".each()', "String.each"),
        ("ds.each()", "Array.each"),
        ("ds.spin()", "Array.spin"),
    }


def test_all_bounds_of_a_type_parameter_count():
    calls = _calls("""func f<T: Named & Sized>(t: T) {
  t.named()
  t.sized()
}
func g(t: Named & Sized) {
  t.sized()
}
extension Tape {
  func named() {}
  func sized() {}
}
""")
    assert ("t.named()", "Named.named") in calls
    assert {target for line, target in calls if line == "t.sized()"} == {"Sized.sized"}


def test_an_extension_has_the_members_of_its_self_constraint():
    calls = _calls("""protocol Shown {}
extension Shown where Self: Named {
  func show() {
    named()
    self.named()
  }
}
extension Shown {
  func hide() {
    self.sized()
  }
}
extension Tape { func named() {} }
""")
    assert {("named()", "Named.named"), ("self.named()", "Named.named")} <= calls
    assert not [target for line, target in calls if "named" in line and target != "Named.named"]


def test_a_requirement_and_its_default_are_one_target():
    project = project_of(
        {"a.swift": _TYPES + "extension Named {\n  func named() {}\n}\nfunc f() { unknown().named() }\n"}
    )
    edges = calls_in(project, "a.swift")
    assert len(edges) == 2
    assert not [edge for edge in edges if edge.candidates]


@pytest.mark.parametrize("folder", ["Sources/Shop", "Shop"])
def test_a_name_is_qualified_by_a_module_of_the_project(folder):
    texts = {
        f"{folder}/Disk.swift": "public func load(text: String) {}\npublic class Disk {\n  func save() {}\n}\n",
        "Tests/DiskTests.swift": (
            'import Shop\nfunc test() {\n  Shop.load(text: "")\n  Shop.Disk().save()\n  Other.load(text: "")\n}\n'
        ),
    }
    edges = calls_in(project_of(texts), "Tests/DiskTests.swift")
    assert {(edge.location.line, edge.target.rpartition(":")[2]) for edge in edges} == {
        *((3, "load"), (4, "Disk"), (4, "Disk.save")),
    }


#: a file with a field in an extension, and calls on it
_FIELDS = """extension Disk {
  static let first = Disk()
  public static let `default` = Disk()
  static let tape: Tape = make()
  static let count = Int(1)
}
"""
_USES = """struct Other { static let second = Tape() }
func run() {
  Disk.first.save()
  Disk.default.save()
  Disk.tape.save()
  Disk.count.save()
  Tape.first.save()
  Other.second.save()
  let disk = Disk.first
  disk.save()
}
"""


def _save_calls(texts: dict[str, str]) -> dict[int, str]:
    edges = calls_in(project_of(texts), "b.swift")
    return {edge.location.line: edge.target for edge in edges if edge.target.endswith(".save")}


def test_static_fields_of_an_extension_have_their_types():
    calls = _save_calls({"a.swift": _TYPES + _FIELDS, "b.swift": _USES})
    assert calls == {
        3: "a:Disk.save",
        4: "a:Disk.save",
        5: "a:Tape.save",
        8: "a:Tape.save",
        10: "a:Disk.save",
    }


def test_an_extension_in_another_file_than_its_type_may_hold_them():
    calls = _save_calls({"a.swift": _TYPES, "b.swift": _USES, "c.swift": _FIELDS})
    assert calls == {
        3: "a:Disk.save",
        4: "a:Disk.save",
        5: "a:Tape.save",
        8: "a:Tape.save",
        10: "a:Disk.save",
    }


def test_uses_are_resolved_again_when_such_a_field_changes():
    project = project_of({"a.swift": _TYPES, "b.swift": _USES, "c.swift": _FIELDS})
    changed = _FIELDS.replace("first = Disk()", "first = Tape()")
    affected = project.update({"c.swift": facts_in("c.swift", changed)})
    assert "b.swift" in affected
    targets = {edge.location.line: edge.target for edge in calls_in(project, "b.swift")}
    assert targets[3] == targets[10] == "a:Tape.save"


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("func run(name: String) { name.lined() }", "String.lined"),
        ("func run(name: String?) { name?.lined() }", "String.lined"),
        ("func run(name: Page) { name.lined() }", "Page.lined"),
        ("func run(name: Data) { name.lined() }", ""),
        ("func run(name: [String]) { name.lined() }", ""),
    ],
)
def test_a_variable_of_a_text_type_has_its_extensions(line, target):
    text = f"extension String {{ func lined() {{}} }}\nstruct Page {{ func lined() {{}} }}\n{line}\n"
    calls = [edge for edge in calls_in(project_of({"a.swift": text}), "a.swift") if edge.target]
    assert [edge.target.partition(":")[2] for edge in calls] == [target] * bool(target)


@pytest.mark.parametrize(
    "line",
    [
        "q.each { name in name.lined() }",
        "q.each { (name, count) in name.lined() }",
        "q.each { [weak q] name, count in name.lined() }",
        "if case .page(let name) = q { name.lined() }",
        "if case let .page(name)? = q { name.lined() }",
        "switch q { case .page(let name): name.lined() }",
        "do { try q.load() } catch let name { name.lined() }",
        "while let name = q.next() { name.lined() }",
        "let (name, count) = q.pair(); name.lined()",
    ],
)
@pytest.mark.parametrize("kind", ["String", "Page"])
def test_a_name_that_a_closure_or_a_pattern_binds_is_not_the_outer_one(line, kind):
    text = "extension String { func lined() {} }\nstruct Page { func lined() {} }\n"
    text += f"func run(name: {kind}, q: Lib) {{\n  {line}\n}}\n"
    assert [edge.target for edge in calls_in(project_of({"a.swift": text}), "a.swift") if edge.target] == []


def test_a_closure_s_parameter_with_a_type_has_it():
    text = "struct Disk { func save() {} }\nstruct Tape { func save() {} }\n"
    text += "func run(disk: Disk, q: Lib) {\n  q.each { (disk: Tape) in disk.save() }\n  disk.save()\n}\n"
    edges = calls_in(project_of({"a.swift": text}), "a.swift")
    assert {(edge.location.line, edge.target) for edge in edges} == {(4, "a:Tape.save"), (5, "a:Disk.save")}
