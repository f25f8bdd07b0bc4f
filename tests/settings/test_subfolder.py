"""Folders that are served from the index of an enclosing project, and folders with their own."""

import orjson
import pytest

from cortex.settings import config as configuration
from cortex.settings.folders.home import cache_home, root_id
from cortex.settings.folders.subfolder import enclosing_project, keep_own


@pytest.fixture
def repo(tmp_path):
    """A repository with two files of `packages/api` in its index."""
    root = (tmp_path / "repo").resolve()
    (root / ".git").mkdir(parents=True)
    (root / "packages" / "api" / "src").mkdir(parents=True)
    read(root, "packages/api/main.py", "packages/api/src/auth.py", "app/page.py")
    return root


def read(root, *paths):
    """Make an index of `root` from the files at `paths`."""
    home = cache_home(root, root_id(root))
    home.mkdir(parents=True, exist_ok=True)
    (home / "manifest.json").write_bytes(orjson.dumps({"files": {path: {} for path in paths}}))


def test_a_folder_in_the_index_of_an_enclosing_project_is_served_from_it(repo):
    assert enclosing_project(repo / "packages" / "api") == (repo, "packages/api")
    assert enclosing_project(repo / "packages" / "api" / "src") == (repo, "packages/api/src")


def test_a_subfolder_has_the_configuration_of_its_project_and_its_own_path(repo):
    config = configuration.load(repo / "packages" / "api")
    whole_project = configuration.load(repo)
    assert (config.root, config.subfolder, config.folder) == (repo, "packages/api", repo / "packages" / "api")
    assert (config.home, config.runtime_dir, config.hash()) == (
        whole_project.home,
        whole_project.runtime_dir,
        whole_project.hash(),
    )


def test_a_folder_that_no_index_has_read_is_a_project_of_its_own(repo):
    (repo / "packages" / "ap").mkdir()
    (repo / "build").mkdir()
    for folder in (repo / "packages" / "ap", repo / "build", repo):
        assert enclosing_project(folder) == (folder, "")


@pytest.mark.parametrize("mark", [".git", ".cortex"])
def test_a_folder_with_a_repository_or_settings_in_it_is_a_project_of_its_own(repo, mark):
    folder = repo / "packages" / "api"
    (folder / mark).mkdir()
    assert enclosing_project(folder) == (folder, "")
    assert enclosing_project(folder / "src") == (folder / "src", "")


def test_a_worktree_in_a_repository_is_a_project_of_its_own(repo):
    folder = repo / "packages" / "api"
    (folder / ".git").write_text("gitdir: /elsewhere\n")
    assert enclosing_project(folder) == (folder, "")


def test_a_folder_keeps_its_own_index(repo):
    api, source = repo / "packages" / "api", repo / "packages" / "api" / "src"
    keep_own(api)
    assert enclosing_project(api) == (api, "")
    assert enclosing_project(source) == (repo, "packages/api/src")
    read(api, "src/auth.py")
    assert enclosing_project(source) == (api, "src")


def test_nothing_above_a_repository_serves_a_folder_in_it(tmp_path):
    outer = (tmp_path / "code").resolve()
    folder = outer / "repo" / "sub"
    folder.mkdir(parents=True)
    read(outer, "repo/sub/a.py")
    assert enclosing_project(folder) == (outer, "repo/sub")
    (outer / "repo" / ".git").mkdir()
    assert enclosing_project(folder) == (folder, "")


def test_names_with_quotes_and_letters_of_all_alphabets_are_found(tmp_path):
    root = (tmp_path / "repo").resolve()
    for name in ('a "b"', "дом", "back\\slash", "x[id]"):
        folder = root / name
        folder.mkdir(parents=True)
        read(root, f"{name}/a.py")
        assert enclosing_project(folder) == (root, name)


def test_every_folder_of_a_sealed_project_is_served_from_it(repo, monkeypatch):
    folder = repo / "packages" / "other"
    folder.mkdir()
    monkeypatch.setattr(
        "cortex.settings.folders.subfolder.is_sealed", lambda _base, name: name == root_id(repo)
    )
    (cache_home(repo, root_id(repo)) / "manifest.json").unlink()
    assert enclosing_project(folder) == (repo, "packages/other")
