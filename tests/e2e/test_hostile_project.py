"""A cloned project is not trusted: its code is never imported, whatever the names of its
modules.
"""

import asyncio
import json
import os
import subprocess

import pytest

from cortex.system.errors import EXIT_NOTHING, EXIT_OK, EXIT_UNAVAILABLE
from tests.consent import trust_files

pytestmark = pytest.mark.e2e

#: modules that our processes import; each of the project's own leaves a mark when it runs
NAMES = (
    "cortex",
    "workers",
    "ipc",
    "numpy",
    "orjson",
    "zmq",
    "tantivy",
    "mcp",
    "encodings",
    "sitecustomize",
    "json",
)


def test_modules_in_the_project_are_never_imported(project, monkeypatch):
    mark = project.root.parent / "imported"
    for name in NAMES:
        code = f"open({str(mark)!r}, 'a').write({name!r} + '\\n')\n"
        (project.root / f"{name}.py").write_text(code)
        (project.root / name).mkdir()
        (project.root / name / "__init__.py").write_text(code)
        (project.root / name / "__main__.py").write_text(code)
    monkeypatch.chdir(project.root)

    async def ask():
        async with project.front() as front:
            await front.until_complete()

    asyncio.run(ask())
    done = project.run("search", "check password", forked=False)
    assert done.returncode == 0, done.stderr
    assert not mark.exists(), mark.read_text()


def test_a_relative_entry_of_the_module_path_does_not_help_it(project, monkeypatch):
    mark = project.root.parent / "imported"
    (project.root / "workers").mkdir()
    (project.root / "workers" / "__init__.py").write_text(f"open({str(mark)!r}, 'w')\n")
    project.environment["PYTHONPATH"] = "." + os.pathsep
    monkeypatch.chdir(project.root)

    async def ask():
        async with project.front() as front:
            await front.until_complete()

    asyncio.run(ask())
    assert not mark.exists()


def _hostile(project):
    """Make a clone with all attacks: (a start-up file of the user, a file that its programs
    write).
    """
    root, home = project.root, project.config.home
    profile, mark = root.parent / "profile", root.parent / "sprung"
    profile.write_text("# the user's own\n")
    trap = root / "git"
    trap.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
    trap.chmod(0o755)
    chunks = root / ".cortex" / "chunks"
    chunks.mkdir(parents=True)
    bad = {"id": f"x\ntouch '{mark}'\n\x1b[2J", "chunk_type": "code", "text": 5}
    (chunks / "theirs\n\x1b[2J[red].json").write_text(json.dumps([bad]))
    (chunks / "half \udcff.json").write_text("[]")
    (root / "src\x1b[2J").mkdir()
    (root / "src\x1b[2J" / "rows.py").write_text("def hostile_rows():\n    return '\x1b]0;owned\x07'\n")
    (root / ".env").write_text(
        f"PYTHONPATH={root}\nCORTEX_HOME={root}/made\nPAGER={trap}\nGIT_PAGER={trap}\n"
    )
    (root / ".git").rmdir()
    trust_files(root)
    clean = os.environ | {"GIT_CONFIG_NOSYSTEM": "1", "HOME": str(root.parent)}
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for arguments in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "x"]):
        subprocess.run(["git", *arguments], cwd=root, env=clean, check=True)
    with (root / ".git" / "config").open("a") as file:
        file.write(
            f"[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n\thooksPath = {root}\n\tsshCommand = {trap}\n"
            f"[log]\n\tshowSignature = true\n[gpg]\n\tprogram = {trap}\n[diff]\n\texternal = {trap}\n"
            f'[alias]\n\tlog = "!{trap}"\n[filter "x"]\n\tclean = {trap}\n\tsmudge = {trap}\n\tprocess = {trap}\n'
        )
    os.mkfifo(root / "docs" / ".gitignore")  # git itself would wait for it
    (root / "auth" / ".gitignore").symlink_to("/dev/zero")
    (root / ".gitattributes").write_text("* filter=x diff=x\n")
    for name in ("watcher", "text", "supervisor", "indexer"):
        (home / "run").mkdir(parents=True, exist_ok=True)
        (home / "run" / f"{name}.log").symlink_to(profile)
        (home / "run" / f"{name}.log.1").hardlink_to(profile)
    return profile, mark


@pytest.mark.timeout(240)
def test_a_hostile_clone_runs_no_program_writes_to_no_other_folder_and_is_served(project, monkeypatch):
    profile, mark = _hostile(project)
    project.environment["PATH"] = f".{os.pathsep}{project.root}{os.pathsep}{project.environment['PATH']}"
    monkeypatch.chdir(project.root)

    async def ask():
        async with project.front() as front:
            await front.until_complete()
            await front.until_found("hostile_rows", "src\x1b[2J/rows.py")

    asyncio.run(ask())
    for arguments in (
        ("search", "hostile_rows"),
        ("explore", "hostile_rows"),
        ("explore", "--diff", "--- a/auth/login.py\n+++ b/auth/login.py\n@@ -1,1 +1,1 @@\n-a\n+b\n"),
        ("status",),
        ("doctor",),
        ("index",),
        ("init",),
        ("down",),
    ):
        done = project.run(*arguments)
        assert done.returncode in (EXIT_OK, EXIT_NOTHING, EXIT_UNAVAILABLE), (arguments, done.stderr)
        printed = f"{done.stdout}{done.stderr}"
        assert "Traceback" not in printed, printed
        assert all(line.expandtabs().isprintable() for line in printed.split("\n")), (arguments, printed)
    assert profile.read_text() == "# the user's own\n"
    assert not mark.exists()
    assert not (project.root / "made").exists()
    logs = [*(project.config.home / "run").glob("*.log")]
    assert logs
    assert not [log for log in logs if log.is_symlink()]
    assert not [log for log in logs if f"\ntouch '{mark}'" in log.read_text(errors="replace")]
