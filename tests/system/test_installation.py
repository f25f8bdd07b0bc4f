"""Optional packages: a missing one is named together with the command that adds it."""

import sys
import tomllib
from pathlib import Path

import pytest

from cortex.engines.graph.pattern import search_pattern
from cortex.indexer.chunkers import cut
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.store.manifest import recipe
from cortex.indexer.syntax import parse
from cortex.indexer.syntax.source import Source
from cortex.settings.config import Config
from cortex.system import installation
from cortex.system.errors import Misconfigured
from cortex.system.installation import EXTRAS, how_to_add, how_to_upgrade, missing_extras
from ipc.messages import PatternSearch

SQL = Source("shop.sql", ("CREATE TABLE basket (id int);", "", "SELECT * FROM basket;"))


#: an installation's record of its source → its requirement with an extra
SOURCES = [
    ({}, "'cortex-context-engine[sql]'"),
    ({"url": "file:///src/cortex", "dir_info": {}}, "'/src/cortex[sql]'"),
    ({"url": "file:///w/My%20clone", "dir_info": {}}, "'/w/My clone[sql]'"),
    ({"url": "file:///w/c-1-py3-none-any.whl", "archive_info": {}}, "'/w/c-1-py3-none-any.whl[sql]'"),
    (
        {"url": "https://host/c.git", "vcs_info": {"vcs": "git", "commit_id": "0"}},
        "'cortex-context-engine[sql] @ git+https://host/c.git'",
    ),
]


@pytest.fixture
def bare(monkeypatch):
    """An installation by name without extras: none of their modules can be imported."""
    monkeypatch.setattr(installation, "_origin", dict)
    for module in (module for modules in EXTRAS.values() for module in modules):
        monkeypatch.setitem(sys.modules, module, None)
    caches = (installation.is_installed, parse._grammar, parse._tools, parse.syntax_tree)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def test_without_its_extra_a_pattern_is_answered_with_the_line_that_adds_it(bare):
    with pytest.raises(Misconfigured, match=r"pip install 'cortex-context-engine\[patterns\]'\."):
        search_pattern(PatternSearch("print($A)", "python"), ["a.py"], None, 1)


def test_without_its_grammar_sql_is_cut_in_windows_and_a_remark_says_what_is_missing(bare):
    outcome = cut(SQL, len, 300)
    assert "\n".join(chunk.text for chunk in outcome.chunks if chunk.chunk_type == "code").strip()
    [remark] = outcome.remarks
    assert remark == (
        "cut without a parser, which needs the extra `sql`: pip install 'cortex-context-engine[sql]'"
    )
    assert facts_of(SQL, "0" * 64) is None


def test_with_its_grammar_sql_has_its_tables():
    assert not cut(SQL, len, 300).remarks
    assert facts_of(SQL, "0" * 64) is not None


def test_files_are_cut_again_once_a_grammar_is_added(bare, monkeypatch, tmp_path):
    before = recipe(Config(root=tmp_path), "m")
    monkeypatch.undo()
    installation.is_installed.cache_clear()
    assert before == recipe(Config(root=tmp_path), "m") + " without sql"


def test_the_table_of_extras_equals_that_of_the_package(bare):
    pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert set(EXTRAS) == set(pyproject["project"]["optional-dependencies"]) - {"dev"}
    assert missing_extras() == list(EXTRAS)


@pytest.mark.parametrize(
    ("left", "line"),
    [
        ("uv-receipt.toml", "uv tool install 'cortex-context-engine[patterns,sql]'"),
        ("pipx_metadata.json", "pipx install --force 'cortex-context-engine[patterns,sql]'"),
        ("pyvenv.cfg", "pip install 'cortex-context-engine[patterns,sql]'"),
    ],
)
def test_an_extra_is_added_in_the_way_of_the_installer(bare, tmp_path, left, line):
    (tmp_path / left).touch()
    assert how_to_add("patterns,sql", str(tmp_path)) == line


@pytest.mark.parametrize(("origin", "requirement"), SOURCES)
@pytest.mark.parametrize(
    "installer",
    [
        ("uv-receipt.toml", "uv tool install ", "uv tool install --reinstall "),
        ("pipx_metadata.json", "pipx install --force ", "pipx install --force "),
        ("pyvenv.cfg", "pip install ", "-m pip install --upgrade "),
    ],
)
@pytest.mark.usefixtures("bare")
def test_commands_name_the_source_that_it_was_installed_from(
    monkeypatch, tmp_path, origin, requirement, installer
):
    left, adds, upgrades = installer
    monkeypatch.setattr(installation, "_origin", lambda: origin)
    monkeypatch.setattr(installation, "is_installed", lambda module: module in EXTRAS["sql"])
    (tmp_path / left).touch()
    assert how_to_add("sql", str(tmp_path)) == adds + requirement
    if origin:
        assert how_to_upgrade(str(tmp_path)).endswith(upgrades + requirement)


@pytest.mark.parametrize(
    ("left", "command"),
    [
        ("uv-receipt.toml", "uv tool upgrade cortex-context-engine"),
        ("pipx_metadata.json", "pipx upgrade cortex-context-engine"),
        ("pyvenv.cfg", "-m pip install --upgrade cortex-context-engine"),
    ],
)
def test_an_installation_by_name_is_upgraded_by_name(bare, tmp_path, left, command):
    (tmp_path / left).touch()
    assert how_to_upgrade(str(tmp_path)).endswith(command)


def test_an_editable_clone_stays_editable_with_an_extra(bare, monkeypatch, tmp_path):
    monkeypatch.setattr(
        installation, "_origin", lambda: {"url": "file:///src/cortex", "dir_info": {"editable": True}}
    )
    assert how_to_add("sql", str(tmp_path)) == "pip install -e '/src/cortex[sql]'"


def test_an_installer_that_rebuilds_the_environment_gets_the_installed_extras(bare, monkeypatch, tmp_path):
    monkeypatch.setattr(installation, "is_installed", lambda module: module == "ast_grep_py")
    (tmp_path / "uv-receipt.toml").touch()
    assert how_to_add("sql", str(tmp_path)) == "uv tool install 'cortex-context-engine[patterns,sql]'"
