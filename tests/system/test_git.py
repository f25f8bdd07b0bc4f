"""git runs without any program that a repository's configuration names."""

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cortex.ask.code_notes.blame import Commits
from cortex.indexer.priority import recently_changed
from cortex.system import git, git_files
from tests.wait_until import until

PATHS = ("src/main.py", "deep/er/old.py", ".cortex/chunks/theirs.json")
WHO = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a repository `tree`, and a program `trap` that leaves the file `sprung`."""
    tree = tmp_path / "tree"
    for path in PATHS:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text("x = 1\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path}/sprung'\ncat >/dev/null 2>&1 &\nexit 0\n")
    trap.chmod(0o755)
    run(tmp_path, "init", "-q")
    run(tmp_path, "add", "-A")
    run(tmp_path, *WHO, "commit", "-qm", "x")
    return tmp_path


def run(place: Path, *arguments: str, check: bool = True) -> bytes:
    """Run git as a person would, inside the repository."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=place / "tree",
        check=check,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=30,
    )
    return done.stdout


def configure(place: Path, **settings: str) -> None:
    for name, value in settings.items():
        run(place, "config", name.replace("__", "."), value)


def hooks(place: Path) -> None:
    for name in (
        "post-index-change",
        "post-checkout",
        "fsmonitor-watchman",
        "pre-auto-gc",
        "reference-transaction",
    ):
        hook = place / "tree" / ".git" / "hooks" / name
        hook.write_bytes((place / "trap").read_bytes())
        hook.chmod(0o755)


def signed(place: Path) -> None:
    """Make a last commit that claims a signature: git runs `gpg.program` to check it."""
    body = run(place, "cat-file", "commit", "HEAD").decode()
    head, _, message = body.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed_commit = subprocess.run(
        ["git", "hash-object", "-w", "-t", "commit", "--stdin"],
        cwd=place / "tree",
        input=f"{head}\n{signature}\n\n{message}".encode(),
        capture_output=True,
        check=True,
    )
    run(place, "update-ref", "HEAD", signed_commit.stdout.decode().strip())
    configure(place, log__showSignature="true", gpg__program=str(place / "trap"))


def missing_objects(place: Path, url: str, **settings: str) -> None:
    """A partial clone whose trees have to be fetched from a remote that is a command."""
    (tree,) = run(place, "rev-parse", "HEAD^{tree}").decode().split()
    (place / "tree" / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    configure(
        place,
        core__repositoryFormatVersion="1",
        extensions__partialClone="origin",
        remote__origin__url=url,
        remote__origin__promisor="true",
        remote__origin__partialCloneFilter="blob:none",
        protocol__ext__allow="always",
        protocol__ssh__allow="always",
        protocol__allow="always",
        **settings,
    )


#: feature of a repository that runs a program → its set-up
TRAPS: dict[str, Callable[[Path], object]] = {
    "core.fsmonitor": lambda place: configure(place, core__fsmonitor=str(place / "trap")),
    "hooks": hooks,
    "core.hooksPath": lambda place: (
        hooks(place),
        (place / "tree" / ".git" / "hooks").rename(place / "tree" / "my hooks"),
        configure(place, core__hooksPath=str(place / "tree" / "my hooks")),
    ),
    "pager": lambda place: configure(place, core__pager=str(place / "trap"), pager__log=str(place / "trap")),
    "diff.external": lambda place: configure(place, diff__external=str(place / "trap")),
    "textconv": lambda place: (
        (place / "tree" / ".gitattributes").write_text("* diff=x filter=x merge=x\n"),
        configure(place, diff__x__textconv=str(place / "trap"), diff__x__command=str(place / "trap")),
    ),
    "filter": lambda place: (
        (place / "tree" / ".gitattributes").write_text("* filter=x\n"),
        configure(
            place,
            filter__x__clean=str(place / "trap"),
            filter__x__smudge=str(place / "trap"),
            filter__x__process=str(place / "trap"),
        ),
        os.utime(place / "tree" / PATHS[0]),
    ),
    "alias": lambda place: configure(
        place, alias__log=f"!{place}/trap", alias__ls="!x", **{"alias__ls-files": f"!{place}/trap"}
    ),
    "editor": lambda place: configure(
        place, core__editor=str(place / "trap"), sequence__editor=str(place / "trap")
    ),
    "credentials": lambda place: configure(
        place, credential__helper=f"!{place}/trap", core__askPass=str(place / "trap")
    ),
    "gpg.program": signed,
    "include.path": lambda place: (
        (place / "more").write_text(f"[core]\n\tfsmonitor = {place}/trap\n"),
        configure(place, include__path=str(place / "more")),
    ),
    "ext:: remote": lambda place: missing_objects(place, f"ext::{place}/trap %S"),
    "sshCommand": lambda place: missing_objects(
        place, "ssh://localhost/x", core__sshCommand=str(place / "trap")
    ),
    "uploadpack": lambda place: missing_objects(
        place,
        str(place / "tree"),
        remote__origin__uploadpack=str(place / "trap"),
        protocol__file__allow="always",
    ),
    "submodule": lambda place: (
        (place / "tree" / ".gitmodules").write_text(
            f'[submodule "a"]\n\tpath = src\n\turl = ext::{place}/trap\n\tupdate = !{place}/trap\n'
        ),
        configure(
            place,
            submodule__a__update=f"!{place}/trap",
            submodule__a__url=f"ext::{place}/trap",
            submodule__recurse="true",
        ),
    ),
}
#: the programs that the same commands run without protection: these tests can fail
SHARP = ("core.fsmonitor", "include.path", "gpg.program", "ext:: remote", "sshCommand", "uploadpack")


@pytest.mark.parametrize("name", TRAPS)
def test_no_program_of_a_repository_is_run(place, name):
    TRAPS[name](place)
    (place / "sprung").unlink(missing_ok=True)
    git.tracked(place / "tree", PATHS)
    recently_changed(place / "tree")
    asyncio.run(look_at_commits(place / "tree"))
    assert not (place / "sprung").exists()


async def look_at_commits(tree: Path) -> None:
    Commits(tree, 60.0).begin(PATHS)  # the end of the loop waits for its thread


@pytest.mark.parametrize("name", SHARP)
def test_the_traps_run_without_protection(place, name):
    TRAPS[name](place)
    (place / "sprung").unlink(missing_ok=True)
    run(place, "ls-files", check=False)
    run(place, "log", "--name-only", check=False)
    assert (place / "sprung").exists()


def test_tracked_files_are_known_under_any_configuration(place):
    for name in ("core.fsmonitor", "pager", "gpg.program", "filter", "submodule", "alias"):
        TRAPS[name](place)
    (place / "tree" / "new.json").write_text("{}")
    assert git.tracked(place / "tree", [*PATHS, "new.json"]) == set(PATHS)
    assert set(recently_changed(place / "tree")) == set(PATHS)


def test_a_work_tree_with_a_git_file_is_asked_like_any_other(place):
    run(place, "worktree", "add", "-q", str(place / "beside"))
    assert (place / "beside" / ".git").is_file()
    assert git.tracked(place / "beside", PATHS) == set(PATHS)


def test_a_git_in_the_project_or_in_the_working_directory_is_not_run(place, monkeypatch):
    tree = place / "tree"
    for folder in (tree, tree / "bin"):
        folder.mkdir(exist_ok=True)
        (folder / "git").write_bytes((place / "trap").read_bytes())
        (folder / "git").chmod(0o755)
    (place / "link").symlink_to(tree / "bin")
    monkeypatch.chdir(tree)
    usual = os.environ["PATH"]
    monkeypatch.setenv("PATH", f".:bin::{tree}/bin:{place}/link:{tree}:{usual}")
    assert git.tracked(tree, PATHS) == set(PATHS)
    assert not (place / "sprung").exists()


def test_gits_environment_variables_are_ignored(place, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(place / "elsewhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(place / "trap"))
    monkeypatch.setenv("GIT_TRACE", str(place / "sprung"))
    assert git.tracked(place / "tree", PATHS) == set(PATHS)
    assert not (place / "sprung").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_is_not_asked(place):
    os.chown(place / "tree", 12345, 12345)
    os.chown(place / "tree" / ".git", 12345, 12345)
    assert git.tracked(place / "tree", PATHS) == frozenset()


def test_without_repository_or_git_the_answers_are_empty(place, tmp_path, monkeypatch):
    (tmp_path / "plain").mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert git.tracked(tmp_path / "plain", ["a.json"]) == frozenset()
    assert git.ask(place / "tree", ["no-such-command"]) == b""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert git.tracked(place / "tree", PATHS) == frozenset()


def fake(place: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    (place / "bin").mkdir()
    (place / "bin" / "git").write_text(f"#!/bin/sh\n{body}\n")
    (place / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place / 'bin'}:/usr/bin:/bin")


def name_of(process: str) -> bytes:
    """Return the name of a process; "" once it has ended."""
    return subprocess.run(["ps", "-o", "args=", "-p", process], check=False, capture_output=True).stdout


def test_a_git_that_never_answers_is_ended_with_its_children(place, monkeypatch):
    fake(place, monkeypatch, f"sleep 1000 &\necho $! > '{place}/child'\necho half\nwait")
    assert git.ask(place / "tree", ["log"], answer_s=0.5) == b""
    child = (place / "child").read_text().strip()
    until(lambda: b"sleep" not in name_of(child), "the end of git's child")


def test_only_the_beginning_of_an_endless_answer_is_read(place, monkeypatch):
    fake(place, monkeypatch, "exec yes")
    assert git.ask(place / "tree", ["log"], bytes_max=1000) == b"y\n" * 500


def test_the_mark_of_head_changes_with_head_and_is_empty_if_only_git_can_tell(place, tmp_path):
    tree = place / "tree"
    before = git.mark_of_head(tree)
    assert before
    assert git.mark_of_head(tree) == before
    run(place, *WHO, "commit", "--allow-empty", "-qm", "Go on")
    after = git.mark_of_head(tree)
    assert after != before
    run(place, "checkout", "-q", "--detach")
    assert git.mark_of_head(tree) not in (before, after)
    elsewhere = tmp_path / "elsewhere"
    run(place, "worktree", "add", "-q", str(elsewhere))
    assert git.mark_of_head(elsewhere) == ()


@pytest.mark.parametrize("name", ["plain", " leading", "trailing ", "\ttab", "two\nlines"])
def test_the_git_folder_of_a_pointer_is_the_one_that_git_opens(tmp_path, name):
    """Otherwise the owner of one folder would be checked, and another one read."""
    top = tmp_path / "top"
    top.mkdir()
    (top / name.strip()).mkdir(exist_ok=True)
    subprocess.run(["git", "init", "-q", "--bare", top / name], check=True)
    (top / ".git").write_text(f"gitdir: {name}\n")
    subprocess.run(["git", "-C", top, "config", "core.bare", "false"], check=True)
    answered = subprocess.run(
        ["git", "-C", top, "rev-parse", "--absolute-git-dir"], check=True, capture_output=True
    )
    assert os.fsencode(git_files.git_dir(top)) == answered.stdout.removesuffix(b"\n")


def test_a_configuration_that_includes_itself_many_times_is_read_in_bounded_steps(tmp_path):
    config = tmp_path / "config"
    config.write_text("[include]\n" + "path = config\n" * 40 + '[remote "origin"]\nurl = here\n')
    settings = git_files.read_config(config)
    assert dict(settings)["remote.origin.url"] == "here"
    assert len(settings) < 100 * 40
