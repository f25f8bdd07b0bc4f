"""The invariants of docs/ARCHITECTURE.md that can be read off the source: imports point down, no pickle."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = [p for folder in ("ipc", "cortex", "workers") for p in sorted((ROOT / folder).rglob("*.py"))]


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return names


def tops(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    package = path.relative_to(ROOT).parts[0]
    forbidden = {"ipc": {"cortex", "workers"}, "cortex": {"workers"}, "workers": set()}[package]
    assert not tops(path) & forbidden


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_crosses_a_process_as_a_pickle_and_no_text_is_run_as_code(path):
    assert not tops(path) & {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
    calls = {
        n.func.id
        for n in ast.walk(ast.parse(path.read_text()))
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    assert not calls & {"eval", "exec"}


def test_only_the_mcp_front_imports_mcp():
    importers = {p.relative_to(ROOT).as_posix() for p in SOURCES if tops(p) & {"mcp", "mcp_types"}}
    assert importers <= {"cortex/front/mcp.py"}


def test_fronts_import_no_engine_and_no_index():
    for path in SOURCES:
        if path.is_relative_to(ROOT / "cortex" / "front"):
            names = imports(path)
            assert not any(
                n.startswith(("cortex.engines", "cortex.rows", "cortex.builder")) for n in names
            ), path
            assert not tops(path) & {"tantivy", "usearch", "numkong"}, path


def test_workers_never_call_each_other():
    for path in SOURCES:
        if path.relative_to(ROOT).parts[0] == "workers":
            assert not any(n.startswith(("ipc.client", "cortex.dispatch")) for n in imports(path)), path


def test_only_the_builder_publishes():
    publishers = [p for p in SOURCES if "generations.publish" in p.read_text()]
    assert [p.name for p in publishers] == ["builder.py"]


def test_every_test_that_the_architecture_names_exists():
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", text))
    written = {
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(named) > 40
    assert not named - written
