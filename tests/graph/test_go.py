"""Targets of Go calls in folders with files for several builds, with two kinds of tests, and in
long chains: small projects in which only one definition can be meant.
"""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.modules.builds import are_built_together
from cortex.graph.resolution.project import Project, Roots
from cortex.graph.resolution.resolve import edges_of
from cortex.graph.resolution.types.structural_types import structural_edges
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest

ENCODERS = {
    "json/json.go": "package json\n\ntype Encoder struct{}\n\nfunc (e Encoder) Append(a int) int { return a }\n",
    "cbor/cbor.go": "package cbor\n\ntype Encoder struct{}\n\nfunc (e Encoder) Append(a string) int { return 0 }\n",
    "encoder_json.go": '// +build !binary_log\n\npackage log\n\nimport "shop/json"\n\nvar enc = json.Encoder{}\n',
    "encoder_cbor.go": '//go:build binary_log\n\npackage log\n\nimport "shop/cbor"\n\nvar enc = cbor.Encoder{}\n',
}
RUN = "package log\n\nfunc run() {\n\tenc.Append(1)\n}\n"
OPEN = "package log\n\nfunc open(name {}) {{}}\n"
CALL = "package log\n\nfunc run() {\n\topen(1)\n}\n"

#: subject → (files, the calling file, lines and targets of its calls)
CASES = {
    "a switch of the project's own is off": (
        {**ENCODERS, "run.go": RUN},
        "run.go",
        {(4, "json/json:Encoder.Append")},
    ),
    "a switch is on for a file that is built with it": (
        {**ENCODERS, "run.go": "//go:build binary_log\n\n" + RUN},
        "run.go",
        {(6, "cbor/cbor:Encoder.Append")},
    ),
    "a file for one system means that system's definitions": (
        {
            "open_linux.go": OPEN.format("int"),
            "open_windows.go": OPEN.format("string"),
            "run_windows_amd64.go": CALL,
        },
        "run_windows_amd64.go",
        {(4, "open_windows:open")},
    ),
    "a definition for one other system does not precede that for the rest": (
        {
            "open_windows.go": OPEN.format("string"),
            "open_other.go": "//go:build !windows\n\n" + OPEN.format("int"),
            "run.go": "//go:build linux || darwin\n\n" + CALL,
        },
        "run.go",
        {(6, "open_other:open")},
    ),
    "a call for any system leads to the function of each": (
        {"open_linux.go": OPEN.format("int"), "open_windows.go": OPEN.format("int"), "run.go": CALL},
        "run.go",
        {(4, "open_linux:open"), (4, "open_windows:open")},
    ),
    "tests from outside have names of their own": (
        {
            "open.go": OPEN.format("int"),
            "open_test.go": OPEN.format("string").replace("package log", "package log_test"),
            "run_test.go": CALL.replace("package log", "package log_test"),
        },
        "run_test.go",
        {(4, "open_test:open")},
    ),
    "a package does not see its tests from outside": (
        {
            "helper_test.go": OPEN.format("string").replace("package log", "package log_test"),
            "run.go": CALL,
        },
        "run.go",
        set(),
    ),
    "a program in the folder that is run alone has names of its own": (
        {
            "gen.go": "//go:build ignore\n\n" + OPEN.format("string").replace("package log", "package main"),
            "open.go": OPEN.format("int"),
            "run.go": CALL,
        },
        "run.go",
        {(4, "open:open")},
    ),
    "a chain of forty calls is followed to its end": (
        {
            "run.go": "package log\n\ntype Event struct{}\n\nfunc (e *Event) Str(a int) *Event { return e }\n\n"
            "func (e *Event) Msg() {}\n\nfunc run(e *Event) {\n\te" + ".Str(1)" * 40 + ".Msg()\n}\n"
        },
        "run.go",
        {(10, "run:Event.Str"), (10, "run:Event.Msg")},
    ),
}


def project_of(files):
    project = Project(LANGUAGES, Roots(go={"": "shop"}))
    project.update({path: _facts(path, text) for path, text in files.items()})
    return project


def _facts(path, text):
    return facts_of(decode(path, text.encode()), digest(text.encode()))


def _calls(project, path):
    edges = edges_of(project, Evaluator(project), path)
    return {(edge.location.line, edge.target) for edge in edges if edge.type == "calls"}


@pytest.mark.parametrize("what", CASES)
def test_calls_lead_to_the_right_definitions(what):
    files, path, expected = CASES[what]
    assert _calls(project_of(files), path) == expected


def test_a_changed_build_constraint_changes_the_edges_of_other_files():
    files = {**ENCODERS, "run.go": RUN}
    project = project_of(files)
    turned = {
        path: files[path].replace("// +build !b", "// +build b").replace(":build b", ":build !b")
        for path in ("encoder_json.go", "encoder_cbor.go")
    }
    assert "run.go" in project.update({path: _facts(path, text) for path, text in turned.items()})
    assert _calls(project, "run.go") == {(4, "cbor/cbor:Encoder.Append")}


@pytest.mark.parametrize("result", ["error", "(err error)", "(_ error)"])
def test_names_of_results_do_not_matter_to_interfaces(result):
    text = (
        'package shop\n\nimport "io"\n\ntype Store interface {\n\tio.Closer\n\tSave(name string) error\n}\n\n'
        f"type Disk struct{{}}\n\nfunc (d *Disk) Save(name string) {result} {{ return nil }}\n"
    )
    project = project_of({"shop/shop.go": text})
    edges = structural_edges(project, Evaluator(project))["shop/shop.go"]
    assert [(edge.source, edge.target, edge.confidence) for edge in edges] == [
        ("shop/shop:Disk", "shop/shop:Store", "name")
    ]


@pytest.mark.parametrize(
    ("condition", "other", "expected"),
    [
        ("", "(linux)", True),
        ("(linux)", "(windows)", False),
        ("(linux)", "(unix)", True),
        ("(windows)", "(unix)", False),
        ("(android)", "(linux)", True),
        ("", "(go1.12)", True),
        ("", "(!go1.12)", False),
        ("", "(ignore)", False),
        ("(cgo)", "(!cgo)", False),
        ("", "(!linux && !windows)", True),
        ("(quick || slow)", "(slow && !quick)", True),
        ("(quick && arm64)", "(quick && amd64)", False),
        ("(linux && windows)", "(darwin)", True),
        ("((((", "(linux)", True),
    ],
)
def test_build_conditions_that_can_hold_together_are_recognised(condition, other, expected):
    assert are_built_together(condition, other) is expected


ONCE = """\
package app

import "sync"

type Engine struct{}

func (e *Engine) Start() {}

func (e *Engine) Stop() {}

func newEngine() (*Engine, error) { return &Engine{}, nil }

var one = sync.OnceValue(func() *Engine { return &Engine{} })
var two = sync.OnceValues(func() (*Engine, error) { return &Engine{}, nil })
var named = sync.OnceValues(newEngine)
var nothing = sync.OnceFunc(func() {})

type Box struct{ make func(n int) *Engine }

func Start() { one().Start() }
func Both() { e, _ := two(); e.Start() }
func Named() { e, _ := named(); e.Stop() }
func Local() { f := sync.OnceValue(func() *Engine { return &Engine{} }); f().Stop() }
func Field(b *Box, f func() Engine) { b.make(1).Start(); f().Stop() }
func Nothing() { nothing() }
"""


def test_functions_that_are_called_once_and_functions_in_fields_give_their_results():
    project = project_of({"once.go": ONCE})
    edges = edges_of(project, Evaluator(project), "once.go")
    assert {(edge.source, edge.target, edge.confidence) for edge in edges if edge.type == "calls"} == {
        ("once:Start", "once:Engine.Start", "receiver"),
        ("once:Both", "once:Engine.Start", "receiver"),
        ("once:Named", "once:newEngine", "exact"),
        ("once:Named", "once:Engine.Stop", "receiver"),
        ("once:Local", "once:Engine.Stop", "receiver"),
        ("once:Field", "once:Engine.Start", "receiver"),
        ("once:Field", "once:Engine.Stop", "receiver"),
    }


def test_a_test_package_hides_no_names_of_its_folder():
    files = {
        "disk/a_test.go": 'package disk_test\n\nimport "shop/disk"\n\nfunc check() { disk.Save() }\n',
        "disk/disk.go": "package disk\n\nfunc Save() {}\n",
        "main.go": 'package main\n\nimport "shop/disk"\n\nfunc main() { disk.Save() }\n',
    }
    project = project_of(files)
    for path, source in (("main.go", "main:main"), ("disk/a_test.go", "disk/a_test:check")):
        edges = edges_of(project, Evaluator(project), path)
        calls = [(edge.source, edge.target) for edge in edges if edge.type == "calls"]
        assert calls == [(source, "disk/disk:Save")]


def test_variables_of_a_package_are_definitions_as_constants_are():
    text = "package tls\n\nvar Version = 1\n\nvar (\n\tSuites = 2\n\tleast, most = 1, 2\n\t_ = 3\n)\n\nvar _ Saver = (*Disk)(nil)\nvar held, _ = pair()\n\nfunc f() { var local = 1 }\n"
    definitions = project_of({"tls/cipher.go": text}).index("tls/cipher.go").facts.definitions
    assert {definition.name for definition in definitions} == {
        "Version",
        "Suites",
        "least",
        "most",
        "held",
        "f",
    }
