"""`cortex index https://…`: a repository is fetched without running its code, and known by its
name.
"""

import contextlib
import http.server
import os
import socket
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from cortex.front.cli import main as cli
from cortex.front.cli.running import cloning
from cortex.settings.folders.projects import clones_base, known_projects
from cortex.system import files
from cortex.system.errors import (
    EXIT_OK,
    EXIT_UNAVAILABLE,
    EXIT_USAGE,
    Misconfigured,
    Unavailable,
)
from tests.wait_until import BOUND_S

REFS = "/info/refs?service=git-upload-pack"
WHO = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")


def git(folder, *arguments, **more):
    return subprocess.run(
        ["git", "-C", folder, *WHO, *arguments], check=True, capture_output=True, timeout=BOUND_S, **more
    ).stdout


class Smart(http.server.BaseHTTPRequestHandler):
    """git's smart protocol over HTTP, for reading: `tree` alone."""

    tree: str

    def do_GET(self):
        if self.path == f"/ada/endless.git{REFS}":
            self._say_endless()
            return
        if self.path.startswith(("/old/", "/elsewhere/", "/round/")):
            base = {
                "old": "",
                "elsewhere": f"http://localhost:{self.server.server_port}",
                "round": "/round/x",
            }
            self.send_response(301)
            self.send_header("Location", f"{base[self.path.split('/')[1]]}/ada/lib.git{REFS}")
            self.end_headers()
            return
        if self.path not in (f"/ada/lib.git{REFS}", f"/a+b/lib.git{REFS}"):
            self.send_error(404)
            return
        self._say("advertisement", b"001e# service=git-upload-pack\n0000", b"", "--advertise-refs")

    def do_POST(self):
        request_body = self.rfile.read(int(self.headers["Content-Length"]))
        self._say("result", b"", request_body)

    def _say_endless(self):
        """An advertisement of references without end."""
        self.send_response(200)
        self.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b"003f%040d refs/heads/xxxxx\n" % 1 * 10_000)

    def _say(self, kind, head, request_body, *options):
        output = subprocess.run(
            ["git", "upload-pack", "--stateless-rpc", *options, self.tree],
            input=request_body,
            env=os.environ | {"GIT_PROTOCOL": self.headers.get("Git-Protocol", "")},
            capture_output=True,
            timeout=BOUND_S,
            check=False,
        ).stdout
        self.send_response(200)
        self.send_header("Content-Type", f"application/x-git-upload-pack-{kind}")
        self.end_headers()
        self.wfile.write(head + output)

    def log_message(self, *_):
        """Logs nothing."""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "tree"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "lib.py").write_text("def only_in_the_library():\n    return 1\n")
    commit(folder)
    (folder / "more.py").write_text("def second():\n    return 2\n")
    commit(folder)
    return folder


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")


@pytest.fixture
def url(tree):
    handler = type("Here", (Smart,), {"tree": str(tree)})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/ada/lib.git"
        server.shutdown()
        thread.join()


def test_a_repository_is_fetched_indexed_and_known_by_its_name(url, tree, capsys):
    assert cli.main(["index", url, "--no-wait"]) == EXIT_OK
    [project] = known_projects().values()
    assert (project.name, project.read_only) == ("ada/lib", True)
    assert {path.name for path in project.root.iterdir()} == {".git", "lib.py", "more.py"}
    assert git(project.root, "rev-list", "--count", "HEAD") == b"1\n"
    assert capsys.readouterr().out.startswith("2 files")
    (tree / "third.py").write_text("x = 3\n")
    commit(tree)
    assert cli.main(["index", url, "--no-wait"]) == EXIT_OK
    assert (project.root / "third.py").exists()
    assert [path.name for path in project.root.parent.iterdir()] == ["lib"]


def test_nothing_that_comes_with_a_repository_or_is_the_users_runs(url, tree, tmp_path):
    (tree / ".gitattributes").write_text("*.py filter=x\n")
    (tree / ".gitmodules").write_text('[submodule "s"]\n  path = s\n  url = ../lib.git\n')
    (tree / "link").symlink_to("/etc/passwd")
    git(tree, "add", "-A")
    git(tree, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},s")
    git(tree, "commit", "-qm", "x")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path}/sprung'\ncat\n")
    trap.chmod(0o755)
    for place in ("template/hooks", "hooks"):
        (tmp_path / place).mkdir(parents=True)
        for hook in ("post-checkout", "reference-transaction"):
            (tmp_path / place / hook).symlink_to(trap)
    (tmp_path / ".gitconfig").write_text(
        f'[filter "x"]\n  smudge = {trap}\n  required = true\n[init]\n  templateDir = {tmp_path}/template\n'
        f"[core]\n  hooksPath = {tmp_path}/hooks\n"
    )
    folder = cloning.fetch(url)
    assert not (tmp_path / "sprung").exists()
    assert not (folder / "link").is_symlink()
    assert not list((folder / "s").iterdir())
    assert not (folder / ".git" / "hooks").exists()
    plain = tmp_path / "plain"
    subprocess.run(["git", "clone", "-q", url, plain], check=True, timeout=BOUND_S)
    assert (tmp_path / "sprung").exists()  # the trap works without our protection


def test_a_failed_fetch_is_one_sentence_and_leaves_nothing(url, capsys):
    assert cli.main(["index", url.replace("lib", "none")]) == EXIT_UNAVAILABLE
    error_lines = capsys.readouterr().err.splitlines()
    assert error_lines[-1].startswith("cortex: http://127.0.0.1")
    assert not [path for path in clones_base().rglob("*") if "none" in path.name]


def test_a_copy_that_cannot_be_renewed_stays(url):
    folder = cloning.fetch(url)
    with pytest.raises(Unavailable, match="cannot be fetched"):
        cloning.fetch(url.removesuffix(".git"))  # the server has no such path
    assert (folder / "lib.py").exists()


def fetch_fault(url):
    """Return the sentence of a fetch that fails, and check that it leaves nothing."""
    with pytest.raises(Unavailable) as fault:
        cloning.fetch(url)
    assert not [path for path in clones_base().rglob("*") if path.is_file()]
    return str(fault.value)


def test_a_redirect_on_the_same_server_is_followed_and_no_other(url):
    folder = cloning.fetch(url.replace("/ada/", "/old/ada/"))
    assert (folder / "lib.py").exists()
    files.remove_tree(folder)
    assert "refers to another one, http://localhost:" in fetch_fault(url.replace("/ada/", "/elsewhere/"))
    assert "cannot be fetched" in fetch_fault(url.replace("/ada/", "/round/ada/"))


@pytest.mark.parametrize(
    ("bound", "sentence"),
    [
        ({"files": 99}, "more than 99 files; clone it yourself"),
        ({"file_bytes": 2 << 20}, "its files have more than 2 MiB"),
        ({"pack_bytes": 1000}, "it has more than 0 MiB"),
        ({"seconds": 0.01}, "longer than 0.01 s"),
    ],
)
def test_a_small_repository_of_many_or_large_files_is_refused_before_they_are_written(
    url, tree, monkeypatch, bound, sentence
):
    (tree / "zeros").write_bytes(bytes(3 << 20))
    git(tree, "add", "zeros")
    names = git(tree, "ls-files", "-s", "lib.py").split()[1].decode()
    for level in range(3):  # a tree of trees: few objects, 1000 files
        entries = "".join(f"{'040000 tree' if level else '100644 blob'} {names}\tn{n}\n" for n in range(10))
        names = git(tree, "mktree", input=entries.encode()).decode().strip()
    git(tree, "read-tree", "--prefix=many", names)
    git(tree, "commit", "-qm", "x")
    monkeypatch.setattr(cloning, "BOUNDS", replace(cloning.BOUNDS, **bound))
    assert sentence in fetch_fault(url)


@pytest.mark.skipif(sys.platform != "linux", reason="needs prlimit")
def test_an_endless_answer_of_a_server_ends_at_a_bound_of_memory(url, monkeypatch):
    monkeypatch.setattr(cloning, "BOUNDS", replace(cloning.BOUNDS, memory_bytes=300 << 20))
    assert "Out of memory" in fetch_fault(url.replace("lib", "endless"))


def test_a_server_without_a_name_is_asked(tree):
    handler = type("Here", (Smart,), {"tree": str(tree)})
    six = type("Six", (http.server.ThreadingHTTPServer,), {"address_family": socket.AF_INET6})
    with six(("::1", 0), handler) as listener:
        threading.Thread(target=listener.serve_forever).start()
        folder = cloning.fetch(f"http://[::1]:{listener.server_port}/ada/lib.git")
        listener.shutdown()
    assert (folder / "lib.py").exists()


def test_a_clone_is_removed_with_its_data(url):
    assert cli.main(["index", url, "--no-wait"]) == EXIT_OK
    [project] = known_projects().values()
    assert cli.main(["clean", "--yes"]) == EXIT_OK
    assert project.root.is_dir()
    assert cli.main(["clean", "--older-than", "0h", "--yes"]) == EXIT_OK
    assert not project.root.exists()
    assert known_projects() == {}


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("http://git.example/ada/lib", "only https:// is"),
        ("ssh://git.example/ada/lib", "only https:// is"),
        ("git@git.example:ada/lib", "only https:// is"),
        ("file:///ada/lib", "only https:// is"),
        ("https://ada:secret@git.example/ada/lib", "no password"),
        ("https://git.example/ada/lib?x=1", "no password, query"),
        ("https://git.example/", "is no repository"),
        ("https://git.example/../lib", "is no repository"),
        ("https://git.example/-x/lib", "is no repository"),
        ("https://[::1/lib", "is no address"),
    ],
)
def test_an_address_that_is_not_fetched_is_one_sentence(address, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    assert cli.main(["index", address]) == EXIT_USAGE
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert sentence in error
    assert not (tmp_path / "cache" / "clones").exists()


def test_repositories_in_groups_have_a_place_of_their_own():
    first, other = (cloning.read_address(f"https://git.example/{path}") for path in ("a/b/c", "a/c.git"))
    assert [place.folder.relative_to(clones_base()).as_posix() for place in (first, other)] == [
        "git.example/a+b/c",
        "git.example/a/c",
    ]
    assert cloning.read_address("https://git.example/a+b/c").folder != first.folder
    with pytest.raises(Misconfigured):
        cloning.read_address("https://git.example/a b/c")
