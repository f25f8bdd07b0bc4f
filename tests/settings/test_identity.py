"""The project of a folder, for memory: its repository, and only if the folder belongs to it."""

import asyncio
import shutil
import subprocess

import pytest

from cortex.ask.code_notes.blame import Commits
from cortex.ask.code_notes.commit_notes import CommitHistory
from cortex.front.feeds import commit_feed
from cortex.indexer.priority import recently_changed
from cortex.settings.folders.identity import identity_of, is_own_history, origin_of


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


def forge_pointer_folder(evil, repository, prefix=""):
    (evil / "fake").mkdir()
    (evil / ".git").write_text("gitdir: fake")
    (evil / "fake" / "commondir").write_text(f"{prefix}{repository / '.git'}")
    (evil / "fake" / "gitdir").write_text("../.git")
    (evil / "fake" / "HEAD").write_text("ref: refs/heads/main")


def forge_link(evil, repository):
    (evil / ".git").symlink_to(repository / ".git")


def forge_relative_link(evil, repository):
    (evil / ".git").symlink_to(f"../{repository.name}/.git")


def forge_link_to_pointer(evil, repository):
    (evil / ".git").symlink_to(repository.with_name("real") / ".git")


def forge_linked_worktree_folder(evil, repository):
    (evil / "fake").symlink_to(repository / ".git" / "worktrees" / "real")
    (evil / ".git").write_text("gitdir: fake\n")


def forge_own_worktrees_folder(evil, repository):
    (evil / "worktrees").mkdir()
    forge_pointer_folder(evil / "worktrees", repository)
    (evil / "worktrees" / ".git").rename(evil / ".git")
    (evil / ".git").write_text("gitdir: worktrees/fake")
    (evil / "worktrees" / "fake" / "gitdir").write_text("../../.git")


def forge_linked_worktrees(evil, repository):
    (evil / "repo.git").mkdir()
    (evil / "repo.git" / "worktrees").symlink_to(repository / ".git" / "worktrees")
    (evil / ".git").write_text("gitdir: repo.git/worktrees/real\n")


def forge_nul(evil, repository):
    forge_pointer_folder(evil, repository)
    (evil / "fake" / "commondir").write_text(f"{repository / '.git'}\0more")


def forge_nul_in_pointer(evil, repository):
    (evil / ".git").write_text(f"gitdir: {repository / '.git' / 'worktrees' / 'real'}\0more")


def forge_hard_link(evil, repository):
    (evil / ".git").hardlink_to(repository.with_name("real") / ".git")


FORGERIES = [function for name, function in list(globals().items()) if name.startswith("forge_")]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda function: function.__name__)
@pytest.mark.parametrize("below", [False, True])
def test_no_forged_git_joins_the_memory_of_another_repository(repository, tmp_path, forge, below):
    git(repository, "config", "remote.origin.url", "https://example.org/ada/shop")
    git(repository, "worktree", "add", "-q", str(tmp_path / "real"))
    evil = tmp_path / "evil"
    (evil / "inner").mkdir(parents=True)
    forge(evil, repository)
    place = evil / "inner" if below else evil
    for remotes in ((), ["example.org/ada/shop"]):
        identity = identity_of(place, remotes)
        assert identity not in (identity_of(repository, remotes), identity_of(tmp_path / "real", remotes))
        assert identity.startswith("evil-")
    assert origin_of(place) == ""


def lead_by_plain_pointer(evil, repository):
    (evil / ".git").write_text(f"gitdir: {repository / '.git'}\n")


def lead_by_commondir(evil, repository):
    git(evil, "init", "-q")
    (evil / ".git" / "commondir").write_text(str(repository / ".git"))


def lead_by_linked_refs(evil, repository):
    git(evil, "init", "-q", "-b", "main")
    for name in ("objects", "refs"):
        (evil / ".git" / name).rename(evil / ".git" / f"own-{name}")
        (evil / ".git" / name).symlink_to(repository / ".git" / name)


async def tell_nothing(*call):
    raise AssertionError(call)


@pytest.mark.parametrize(
    "forge",
    [*FORGERIES, lead_by_plain_pointer, lead_by_commondir, lead_by_linked_refs],
    ids=lambda function: function.__name__,
)
def test_no_commit_of_another_repository_is_shown_by_a_forged_git(repository, tmp_path, forge):
    (repository / "a.py").write_text("a = 1\n")
    git(repository, "add", "a.py")
    git(repository, "commit", "-qm", "SECRETCOMMIT")
    git(repository, "worktree", "add", "-q", str(tmp_path / "real"))
    evil = tmp_path / "evil"
    evil.mkdir()
    forge(evil, repository)
    (evil / "a.py").write_text("a = 1\n")
    assert recently_changed(evil) == {}
    assert commit_feed.commits(evil, [{"commits": ["HEAD"]}]) == []
    assert asyncio.run(CommitHistory(evil).import_new(tell_nothing)) == 0
    blames = Commits(evil)
    blames._wanted = ["a.py"]
    blames._read_wanted(())
    assert blames.tell("a.py", {1: "a = 1"}) == ""


def test_worktrees_and_submodules_show_their_own_commits(repository, tmp_path):
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "inner")
    git(repository, "commit", "-qm", "submodule")
    git(repository, "worktree", "add", "-q", str(tmp_path / "real"))
    git(tmp_path / "real", "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init")
    (repository / "folder").mkdir()
    for place in (".", "folder", "inner", "../real", "../real/inner", ".."):
        assert is_own_history(repository / place), place


def test_pointers_are_read_with_their_blanks_as_git_reads_them(tmp_path):
    """Without the blank it is another path: commits that git finds in the folder `planted` would
    become notes of `secretbeta`.
    """
    victim, evil = tmp_path / "secretbeta", tmp_path / "evil"
    planted = evil / "fake" / "secretbeta"
    (evil / "fake" / " ..").mkdir(parents=True)
    for folder in (victim, planted):
        folder.mkdir()
        git(folder, "init", "-q", "-b", "main")
        git(folder, "commit", "-q", "--allow-empty", "-m", folder.parent.name)
    for name, text in (
        ("commondir", " ../../secretbeta/.git"),
        ("gitdir", "../.git"),
        ("HEAD", "ref: refs/heads/main"),
    ):
        (evil / "fake" / name).write_text(text)
    (evil / ".git").write_text("gitdir: fake")
    read = subprocess.run(["git", "-C", evil, "log", "--format=%s"], capture_output=True, check=True)
    assert read.stdout == b"fake\n"
    assert identity_of(evil) not in (identity_of(victim), identity_of(planted))


def test_a_worktree_whose_folder_has_blanks_in_its_name_is_still_its_repositorys(repository, tmp_path):
    for name in (" leading", "trailing ", "line\nend"):
        git(repository, "worktree", "add", "-q", "-b", name.strip().replace("\n", "-"), str(tmp_path / name))
        assert identity_of(tmp_path / name) == identity_of(repository), name


def test_a_worktree_that_was_moved_without_git_is_a_project_of_its_own(repository, tmp_path):
    git(repository, "worktree", "add", "-q", str(tmp_path / "real"))
    (tmp_path / "real").rename(tmp_path / "moved")
    assert identity_of(tmp_path / "moved") != identity_of(repository)
    git(tmp_path / "moved", "worktree", "repair")
    assert identity_of(tmp_path / "moved") == identity_of(repository)
