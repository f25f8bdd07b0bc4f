"""The project of a folder, for memory: its repository, and only if the folder belongs to it."""

import shutil
import subprocess

import pytest

from cortex.settings.identity import identity_of


def git(folder, *command):
    subprocess.run(
        ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *command],
        check=True,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def test_worktrees_and_folders_of_a_repository_are_one_project(repository, tmp_path):
    git(repository, "worktree", "add", "-q", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere" / "inner").mkdir()
    identities = {
        identity_of(place) for place in (repository, tmp_path / "elsewhere", tmp_path / "elsewhere" / "inner")
    }
    assert len(identities) == 1
    assert identities.pop().startswith("shop-")


def test_a_link_to_a_repository_is_that_repository(repository, tmp_path):
    (tmp_path / "link").symlink_to(repository)
    assert identity_of(tmp_path / "link") == identity_of(repository)


def test_a_copy_and_a_clone_are_projects_of_their_own(repository, tmp_path):
    shutil.copytree(repository, tmp_path / "copy")
    git(tmp_path, "clone", "-q", str(repository), str(tmp_path / "clone"))
    assert len({identity_of(tmp_path / name) for name in ("shop", "copy", "clone")}) == 3


def test_clones_of_a_configured_remote_are_one_project(repository, tmp_path):
    git(tmp_path, "clone", "-q", str(repository), str(tmp_path / "clone"))
    addresses = ("git@Example.org:ada/shop.git", "https://ada:x@example.org/ada/shop/")
    for name, address in zip(("shop", "clone"), addresses, strict=True):
        git(tmp_path / name, "config", "remote.origin.url", address)
    identities = {
        identity_of(tmp_path / name, ["ssh://git@example.org:22/ada/shop"]) for name in ("shop", "clone")
    }
    assert len(identities) == 1
    assert identities.pop().startswith("shop-")
    for remotes in ((), ["example.org/ada/other"]):
        assert len({identity_of(tmp_path / name, remotes) for name in ("shop", "clone")}) == 2
    assert identity_of(repository, ["example.org/ada/other"]) == identity_of(repository)


def test_a_folder_that_names_another_repository_as_its_own_does_not_get_its_notes(repository, tmp_path):
    git(repository, "worktree", "add", "-q", str(tmp_path / "real"))
    forged = tmp_path / "forged"
    forged.mkdir()
    for pointer in (
        (tmp_path / "real" / ".git").read_text(),
        f"gitdir: {repository / '.git'}",
        "gitdir: ",
        "gitdir: " + "x" * 100_000,
    ):
        (forged / ".git").write_text(pointer)
        assert identity_of(forged) not in (identity_of(repository), identity_of(tmp_path / "real"))
        assert identity_of(forged).startswith("forged-")


def test_without_git_a_folder_is_a_project_by_itself(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert identity_of(tmp_path / "a") == identity_of(tmp_path / "a")
    assert identity_of(tmp_path / "a") != identity_of(tmp_path / "b")


@pytest.mark.parametrize("name", ["…", "a" * 200, "two words", ".hidden"])
def test_an_identity_is_a_short_plain_word(tmp_path, name):
    (tmp_path / name).mkdir()
    identity = identity_of(tmp_path / name)
    assert len(identity) <= 64
    assert identity.isascii()
    assert " " not in identity
