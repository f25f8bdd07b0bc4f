"""The graph names no language outside of `cortex/graph/languages`, and a table adds one."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter_python
from tree_sitter import Language as Grammar
from tree_sitter import Parser

from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.tables import pack
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.graph.sweep.extract import extract
from cortex.terms.languages import family_of

ROOT = Path(__file__).parents[2]
#: (module, text): texts that only look like a language's name
OTHERWISE = {("cortex/graph/facts/modules.py", "python")}  # a folder of sources
NAMES = {*LANGUAGES, *(language.rules.family for language in LANGUAGES.values())}


def texts_of(path: Path) -> Iterator[tuple[str, int]]:
    """Yield (text, line) of a module's strings, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value, node.lineno


@pytest.mark.parametrize("folder", ["cortex/graph", "cortex/engines/graph"])
def test_no_string_names_a_language(folder):
    languages = ROOT / "cortex/graph/languages"
    paths = [path for path in sorted((ROOT / folder).rglob("*.py")) if languages not in path.parents]
    assert len(paths) > 10
    strings = [
        f"{name}:{line} {text!r}"
        for path in paths
        for name in [path.relative_to(ROOT).as_posix()]
        for text, line in texts_of(path)
        if text in NAMES and (name, text) not in OTHERWISE
    ]
    assert not strings


def test_each_language_is_in_the_table_by_its_name_and_in_the_family_of_the_vocabulary():
    assert {name: language.name for name, language in LANGUAGES.items()} == {name: name for name in LANGUAGES}
    assert all(language.rules.family == family_of(name) for name, language in LANGUAGES.items())


def test_a_row_of_the_table_is_enough_for_a_new_language(tmp_path, monkeypatch):
    folder = tmp_path / "toy_language"
    (folder / "values").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "toy.scm").write_text(
        "(function_definition name: (identifier) @name) @def.function\n(call function: (_) @callee) @call\n"
    )
    (folder / "values" / "toy.scm").write_text("(argument_list (identifier) @value)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "toy_language", raising=False)
    toy = Language(
        "toy",
        rules=Rules("toy", (".toy",), self_names=frozenset(), super_names=frozenset(), shared="folder"),
        syntax=Syntax(package="toy_language", queries=("toy",), calls={"call": "function"}),
    )
    project = Project({"toy": toy})
    texts = {"a/one.toy": "def save(): pass\n", "a/two.toy": "def go():\n    save()\n    run(save)\n"}
    parser = Parser(Grammar(tree_sitter_python.language()))
    facts = {path: extract(parser.parse(text.encode()), path, toy, "0") for path, text in texts.items()}
    project.update({path: pack(read, toy.rules) for path, read in facts.items()})
    edges = edges_of(project, Evaluator(project), "a/two.toy")
    targets = {(edge.type, edge.source, edge.target, edge.confidence) for edge in edges}
    assert targets == {
        ("calls", "a/two:go", "a/one:save", "exact"),
        ("references", "a/two:go", "a/one:save", "exact"),
    }
