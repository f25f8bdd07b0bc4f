"""Functions and classes that are values: of an export, an assignment, an argument, a variable."""

from __future__ import annotations

import pytest

from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.syntax.parse import parse
from cortex.indexer.syntax.source import Source, decode
from cortex.terms.languages import language_of
from tests.graph.small_graphs import calls_in, project_of

INNER = "\nfunction inner() {}\n"
#: value of `export default` → the names of its definitions
DEFAULTS = {
    "ready && function save() { inner() }": {"save"},
    "ready && function () { inner() }": {"default"},
    "ready || (async () => { inner() })": {"default"},
    "given ?? function* save() { inner() }": {"save"},
    "ready ? function save() { inner() } : null": {"save"},
    "(function save() { inner() })": {"save"},
    "wrap(function save() { inner() })": {"save"},
    "wrap(() => { inner() })": {"default"},
    "wrap(other)(() => { inner() })": {"default"},
    "outer(wrap(function save() { inner() }))": {"save"},
    "ready && wrap(1, function save() { inner() })": {"save"},
    "() => { inner() }": {"default"},
}
#: values that define nothing
NOTHINGS = (
    "ready && make()",
    "list.map(() => inner())",
    "wrap(1, () => inner())",
    "(() => inner())()",
    "1 + function () { inner() }",
)


def outline_of(path: str, text: str) -> set[str]:
    source = decode(path, text.encode())
    assert isinstance(source, Source)
    language = language_of(path)
    symbols = parse(source, language).symbols
    return {f"{symbol.scope}.{symbol.name}".lstrip(".") for symbol in symbols} - {"inner"}


@pytest.mark.parametrize("suffix", ["js", "ts"])
@pytest.mark.parametrize("value", DEFAULTS)
def test_a_function_of_a_default_export_is_a_definition(value, suffix):
    text = f"export default {value};{INNER}"
    name = f"a.{suffix}"
    project = project_of({name: text, f"b.{suffix}": "import save from './a';\nsave();\n"})
    wanted = DEFAULTS[value]
    assert outline_of(name, text) == wanted
    inside = {edge.source for edge in calls_in(project, name) if edge.target == "a:inner"}
    assert inside == {f"a:{function}" for function in wanted}
    outside = {edge.target for edge in calls_in(project, f"b.{suffix}")}
    assert outside == {f"a:{function}" for function in wanted}


@pytest.mark.parametrize("value", NOTHINGS)
def test_a_function_that_is_not_the_value_is_no_definition(value):
    text = f"export default {value};{INNER}"
    project = project_of({"a.js": text})
    assert outline_of("a.js", text) == set()
    assert {edge.source for edge in calls_in(project, "a.js") if edge.target == "a:inner"} <= {"a"}


#: statement of a CommonJS module → name of its definition, and a call from another file
ASSIGNED = {
    "module.exports = ready && function save() { inner() };": ("save", "require('./a')();"),
    "module.exports = wrap(function save() { inner() });": ("save", "require('./a')();"),
    "exports.save = ready && function other() { inner() };": ("save", "require('./a').save();"),
    "exports.save = ready ? () => { inner() } : null;": ("save", "require('./a').save();"),
    "module.exports.save = wrap(() => { inner() });": ("save", "require('./a').save();"),
}


@pytest.mark.parametrize("statement", ASSIGNED)
def test_a_function_within_an_assigned_export_is_a_definition(statement):
    name, call = ASSIGNED[statement]
    text = statement + INNER
    project = project_of({"a.js": text, "b.js": f"{call}\n"})
    assert outline_of("a.js", text) == {name}
    assert {edge.source for edge in calls_in(project, "a.js") if edge.target == "a:inner"} == {f"a:{name}"}
    assert {edge.target for edge in calls_in(project, "b.js")} == {f"a:{name}"}


def test_a_class_within_a_value_has_its_methods():
    text = "export default ready && (class Disk { save() { inner() } });" + INNER
    project = project_of({"a.js": text, "b.js": "import Disk from './a';\nnew Disk().save();\n"})
    assert outline_of("a.js", text) == {"Disk", "Disk.save"}
    assert {edge.target for edge in calls_in(project, "b.js")} == {"a:Disk", "a:Disk.save"}


def test_both_functions_of_a_choice_are_definitions():
    text = "export default ready ? function fast() {} : function slow() {};\n"
    assert outline_of("a.js", text) == {"fast", "slow"}


def test_a_comment_above_the_export_has_the_types_of_the_function():
    text = (
        "class Disk { save() {} }\n/** @param {Disk} disk */\n"
        "export default ready && function keep(disk) { disk.save() };\n"
    )
    project = project_of({"a.js": text})
    assert {edge.target for edge in calls_in(project, "a.js")} == {"a:Disk.save"}


def test_a_named_function_that_is_an_argument_is_a_definition():
    text = (
        "function outer() {\n  return wrap(async function send(x) { inner(); send(x) });\n}\n"
        "on('x', function handle() { inner() });\nsend(1);\n" + INNER
    )
    project = project_of({"a.js": text})
    assert outline_of("a.js", text) == {"outer", "outer.send", "handle"}
    edges = edges_of(project, Evaluator(project), "a.js")
    assert {(edge.source, edge.target, edge.location.line) for edge in edges} == {
        ("a:outer", "a:outer.send", 2),
        ("a:outer.send", "a:inner", 2),
        ("a:outer.send", "a:outer.send", 2),
        ("a", "a:handle", 4),
        ("a:handle", "a:inner", 4),
    }  # its name is unknown outside


def test_a_method_that_ruby_defines_by_a_call_is_a_definition():
    text = (
        "class Disk\n  define_method(:save) do |path|\n    write(path)\n  end\n"
        "  define_method(:load) { write(1) }\n  def write(path); end\nend\nDisk.new.save(1)\n"
    )
    project = project_of({"a.rb": text})
    assert outline_of("a.rb", text) == {"Disk", "Disk.save", "Disk.load", "Disk.write"}
    calls = {(edge.source, edge.target) for edge in calls_in(project, "a.rb")}
    assert {("a:Disk.save", "a:Disk.write"), ("a:Disk.load", "a:Disk.write"), ("a", "a:Disk.save")} <= calls


def test_a_function_of_a_variable_of_a_package_is_a_definition():
    text = (
        "package p\nvar save = func(disk Disk) { disk.Write() }\nvar (\n\tload = func() { save(Disk{}) }\n"
        "\tsize = 3\n)\ntype Disk struct{}\nfunc (d Disk) Write() { load() }\n"
    )
    project = project_of({"p/a.go": text})
    calls = {(edge.source, edge.target) for edge in calls_in(project, "p/a.go")}
    assert calls == {
        ("p/a:save", "p/a:Disk.Write"),
        ("p/a:load", "p/a:save"),
        ("p/a:Disk.Write", "p/a:load"),
    }
