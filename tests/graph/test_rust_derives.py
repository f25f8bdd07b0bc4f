"""Traits that macros implement for Rust's types: `#[derive(Parser)]`."""

from __future__ import annotations

import pytest

from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.resolve import edges_of
from tests.graph.small_graphs import project_of

FACADE = {
    "Cargo.toml": "",
    "app_parse/src/lib.rs": "pub trait Parser: Sized {\n    fn parse() -> Self { todo!() }\n    fn update(&mut self) {}\n}\npub trait Other {\n    fn parse() {}\n}\npub struct Fake;\n",
}


def _edges(derive: str, call: str = "Cli::parse();") -> list[tuple[str, str, str]]:
    text = (
        f"use app_parse::{{Parser, Other, Fake}};\n\n{derive}\npub struct Cli {{\n    name: String,\n}}\n"
        f"impl Cli {{\n    fn name(&self) {{}}\n}}\nfn main() {{\n    {call}\n}}\n"
    )
    texts = {**FACADE, "app/src/main.rs": text, "app/Cargo.toml": ""}
    project = project_of({path: text for path, text in texts.items() if path.endswith(".rs")})
    edges = edges_of(project, Evaluator(project), "app/src/main.rs")
    return [
        (edge.type, edge.source.rpartition(":")[2], edge.target.rpartition(":")[2])
        for edge in edges
        if edge.confidence != "name"
    ]


@pytest.mark.parametrize(
    "derive",
    [
        "#[derive(Parser)]",
        "#[derive(Debug, Parser, Clone)]",
        "#[derive(Debug, app_parse::Parser)]",
        "#[derive(Parser)]\n#[command(name = 'x')]\n/// doc",
    ],
)
def test_a_derived_trait_of_the_project_gives_its_methods(derive):
    edges = _edges(derive)
    assert ("implements", "Cli", "Parser") in edges
    assert ("calls", "main", "Parser.parse") in edges


def test_what_a_derived_method_returns_is_the_type():
    edges = _edges("#[derive(Parser)]", "let cli = Cli::parse(); cli.name(); cli.update();")
    assert ("calls", "main", "Cli.name") in edges
    assert ("calls", "main", "Parser.update") in edges


@pytest.mark.parametrize("derive", ["", "#[derive(Debug)]", "#[derive(Fake)]", "#[allow(Parser)]"])
def test_another_attribute_implements_nothing(derive):
    edges = _edges(derive)
    assert not [edge for edge in edges if edge[0] == "implements"]
    assert not [edge for edge in edges if edge[0] == "calls"]


def test_only_the_type_below_has_the_trait():
    text = "trait Shop {\n    fn sell() {}\n}\n#[derive(Shop)]\nstruct Disk;\nstruct Tape;\nfn run() {\n    Disk::sell();\n    Tape::sell();\n}\n"
    project = project_of({"src/lib.rs": text})
    edges = edges_of(project, Evaluator(project), "src/lib.rs")
    assert [(edge.type, edge.location.line) for edge in edges if edge.confidence != "name"] == [
        ("implements", 4),
        ("calls", 8),
    ]
