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
    """An installation by name without extras, with pip first on the PATH: none of the extras'
    modules can be imported.
    """
    monkeypatch.setattr(installation.shutil, "which", lambda _program: f"{sys.prefix}/bin/pip")
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
        ("pyvenv.cfg", "-m pip install 'cortex-context-engine[patterns,sql]'"),
    ],
)
def test_an_extra_is_added_in_the_way_of_the_installer(bare, monkeypatch, tmp_path, left, line):
    (tmp_path / left).touch()
    monkeypatch.setattr(installation, "is_installed", lambda module: module == "pip")
    assert how_to_add("patterns,sql", str(tmp_path)).removeprefix(f"{tmp_path}/bin/python ") == line


@pytest.mark.parametrize(("origin", "requirement"), SOURCES)
@pytest.mark.parametrize(
    "installer",
    [
        ("uv-receipt.toml", "uv tool install ", "uv tool install --reinstall "),
        ("pipx_metadata.json", "pipx install --force ", "pipx install --force "),
        ("pyvenv.cfg", "-m pip install ", "-m pip install {}"),
    ],
)
@pytest.mark.usefixtures("bare")
def test_commands_name_the_source_that_it_was_installed_from(
    monkeypatch, tmp_path, origin, requirement, installer
):
    left, adds, upgrades = installer
    monkeypatch.setattr(installation, "_origin", lambda: origin)
    monkeypatch.setattr(installation, "is_installed", lambda module: module in (*EXTRAS["sql"], "pip"))
    (tmp_path / left).touch()
    assert how_to_add("sql", str(tmp_path)).removeprefix(f"{tmp_path}/bin/python ") == adds + requirement
    if origin:
        line = how_to_upgrade(str(tmp_path))
        assert line.endswith(
            upgrades.format("" if left == "pyvenv.cfg" and "dir_info" not in origin else "--upgrade ")
            + requirement
        )
        assert ("--force-reinstall --no-deps" in line) == (left == "pyvenv.cfg" and "dir_info" not in origin)


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


@pytest.mark.parametrize(
    ("left", "adds", "upgrades"),
    [
        ("uv-receipt.toml", "uv tool install -e ", "uv tool install --reinstall -e "),
        ("pipx_metadata.json", "pipx install --force -e ", "pipx install --force -e "),
        ("pyvenv.cfg", "-m pip install -e ", "-m pip install --upgrade -e "),
    ],
)
@pytest.mark.usefixtures("bare")
def test_an_editable_clone_stays_editable(monkeypatch, tmp_path, left, adds, upgrades):
    monkeypatch.setattr(
        installation, "_origin", lambda: {"url": "file:///src/cortex", "dir_info": {"editable": True}}
    )
    monkeypatch.setattr(installation, "is_installed", lambda module: module in (*EXTRAS["sql"], "pip"))
    (tmp_path / left).touch()
    assert how_to_add("sql", str(tmp_path)).endswith(f"{adds}'/src/cortex[sql]'")
    assert how_to_upgrade(str(tmp_path)).endswith(f"{upgrades}'/src/cortex[sql]'")


@pytest.mark.parametrize(
    ("programs", "modules", "line"),
    [
        ({"pip": "{folder}/bin/pip"}, ("pip",), "pip install"),
        ({"pip": "/usr/bin/pip", "uv": "/usr/bin/uv"}, ("pip",), "{folder}/bin/python -m pip install"),
        ({"uv": "/usr/bin/uv"}, (), "uv pip install --python {folder}/bin/python"),
        ({}, (), "{folder}/bin/python -m pip install"),
    ],
)
@pytest.mark.usefixtures("bare")
def test_pip_installs_into_the_environment_that_cortex_runs_in(
    monkeypatch, tmp_path, programs, modules, line
):
    paths = {name: path.format(folder=tmp_path) for name, path in programs.items()}
    monkeypatch.setattr(installation.shutil, "which", paths.get)
    monkeypatch.setattr(installation, "is_installed", lambda module: module in modules)
    command = f"{line.format(folder=tmp_path)} 'cortex-context-engine[sql]'"
    assert how_to_add("sql", str(tmp_path)) == command


def test_an_address_keeps_its_branch(bare, monkeypatch, tmp_path):
    source = {"vcs": "git", "commit_id": "0", "requested_revision": "next"}
    monkeypatch.setattr(installation, "_origin", lambda: {"url": "https://host/c.git", "vcs_info": source})
    (tmp_path / "uv-receipt.toml").touch()
    assert how_to_add("sql", str(tmp_path)).endswith(" @ git+https://host/c.git@next'")


def test_code_that_is_not_installed_names_its_folder(monkeypatch):
    import importlib.metadata

    def find_nothing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", find_nothing)
    origin = installation._origin.__wrapped__()
    assert origin == {"url": Path(__file__).parents[2].as_uri(), "dir_info": {"editable": True}}


def test_an_installer_that_rebuilds_the_environment_gets_the_installed_extras(bare, monkeypatch, tmp_path):
    monkeypatch.setattr(installation, "is_installed", lambda module: module == "ast_grep_py")
    (tmp_path / "uv-receipt.toml").touch()
    assert how_to_add("sql", str(tmp_path)) == "uv tool install 'cortex-context-engine[patterns,sql]'"
