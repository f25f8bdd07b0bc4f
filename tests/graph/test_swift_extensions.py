"""What Swift's extensions and the bounds of its type parameters add to types."""

from __future__ import annotations

from tests.graph.small_graphs import calls_in, project_of

_TYPES = """struct Disk { func save() {} }
struct Tape { func save() {} }
protocol Named { func named() }
protocol Sized { func sized() }
"""


def _calls(text: str) -> set[tuple[str, str]]:
    """(text of the line from `/*` on, what is called there)"""
    whole = _TYPES + text
    edges = calls_in(project_of({"a.swift": whole}), "a.swift")
    lines = whole.split("\n")
    return {(lines[one.location.line - 1].strip(), one.target.partition(":")[2]) for one in edges}


def test_computed_properties_of_extensions_call_and_hold_what_they_say():
    found = _calls("""extension Disk {
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
    assert ("helper()", "Disk.helper") in found
    assert {("twin.save()", "Disk.save"), ("d.twin.save()", "Disk.save")} <= found
    assert ("Disk.shared.save()", "Tape.save") in found
    assert not [line for line, _ in found if line in ("twin()", "x.twin()")]


def test_texts_and_arrays_have_what_extensions_of_their_types_give():
    found = _calls("""extension String {
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
    assert found == {
        ('"x".shout()', "String.shout"),
        ('"x".each()', "String.each"),
        ("ds.each()", "Array.each"),
        ("ds.spin()", "Array.spin"),
    }


def test_all_bounds_of_a_type_parameter_count():
    found = _calls("""func f<T: Named & Sized>(t: T) {
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
    assert ("t.named()", "Named.named") in found
    assert {target for line, target in found if line == "t.sized()"} == {"Sized.sized"}


def test_an_extension_has_what_it_asks_of_self():
    found = _calls("""protocol Shown {}
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
    assert {("named()", "Named.named"), ("self.named()", "Named.named")} <= found
    assert not [target for line, target in found if "named" in line and target != "Named.named"]


def test_a_requirement_and_its_default_are_one_target():
    project = project_of(
        {"a.swift": _TYPES + "extension Named {\n  func named() {}\n}\nfunc f() { unknown().named() }\n"}
    )
    found = calls_in(project, "a.swift")
    assert len(found) == 2
    assert not [one for one in found if one.candidates]
