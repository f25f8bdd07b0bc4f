"""`cortex index https://…`: a repository is fetched without running its code, and known by its
name.
"""

import http.server
import os
import subprocess
import threading

import pytest

from cortex.front.cli import cloning
from cortex.front.cli import main as cli
from cortex.settings.projects import clones_base, known_projects
from cortex.system.errors import (
    EXIT_OK,
    EXIT_UNAVAILABLE,
    EXIT_USAGE,
    Misconfigured,
    Unavailable,
)
from tests.wait_until import BOUND_S

WHO = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")


def git(folder, *arguments, **more):
    return subprocess.run(
        ["git", "-C", folder, *WHO, *arguments], check=True, capture_output=True, timeout=BOUND_S, **more
    ).stdout


class Smart(http.server.BaseHTTPRequestHandler):
    """git's smart protocol over HTTP, for reading: `tree` alone."""

    tree: str

    def do_GET(self):
        if self.path != "/ada/lib.git/info/refs?service=git-upload-pack":
            self.send_error(404)
            return
        self._say("advertisement", b"001e# service=git-upload-pack\n0000", b"", "--advertise-refs")

    def do_POST(self):
        request_body = self.rfile.read(int(self.headers["Content-Length"]))
        self._say("result", b"", request_body)

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
    with pytest.raises(Misconfigured):
        cloning.read_address("https://git.example/a b/c")
