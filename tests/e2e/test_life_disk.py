"""A full disk and a read-only folder, on real file systems: a clear sentence, and no loss."""

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cortex.system import files
from cortex.system.errors import EXIT_UNAVAILABLE

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system"),
]


@pytest.fixture
def mount(project):
    """Return a function that mounts a tmpfs of so many kB over a folder, by default the project's
    in the cache.

    It is unmounted at the end, whatever happened.
    """
    mounted = []

    def run(*options, folder=None):
        folder = folder or project.config.home
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", folder], check=False)
        if done.returncode:
            pytest.skip("mounting is not allowed here")
        mounted.append(folder)
        return folder

    yield run
    for folder in mounted:
        project.run("down")
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder):
    with (folder / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def test_an_error_of_a_full_disk_names_the_whole_path(mount, tmp_path):
    fill(mount("size=64k", "mode=700", folder=tmp_path / "full"))
    with pytest.raises(OSError, match=r"/full/state'$"):
        files.replace(tmp_path / "full" / "state", bytes(4096))
    with pytest.raises(OSError, match=r"/full/state'$"):
        files.write_new(tmp_path / "full", "state", bytes(4096))


def test_memory_on_a_full_disk_and_full_sockets_are_named(project, mount):
    for variable in ("CORTEX_MEMORY_DATA_DIR", "XDG_RUNTIME_DIR"):
        folder = Path(tempfile.mkdtemp(dir="/tmp"))  # short, for paths of sockets
        fill(mount("size=64k", "mode=700", folder=folder))
        done = subprocess.run(
            ["env", f"{variable}={folder}", sys.executable, "-P", "-m", "cortex", "memory", "recall", "x"],
            env=os.environ | project.environment,
            cwd=project.root,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert str(folder) in done.stderr


def test_with_too_few_open_files_a_command_says_so(project):
    line = f"ulimit -n 24; exec {sys.executable} -P -m cortex exact x"
    done = subprocess.run(
        ["sh", "-c", line],
        env=os.environ | project.environment,
        cwd=project.root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (EXIT_UNAVAILABLE, 1)
    assert "may open 24 files" in done.stderr


def test_a_full_disk_keeps_the_old_answers_calls_them_stale_and_recovers(project, mount):
    folder = mount("size=8m")

    async def ask():
        async with project.front() as front:
            await front.until_complete()
            filler = folder / "filler"
            fill(folder)
            (project.root / "auth" / "login.py").write_text(
                "def overflowing_function():\n    return 1\n" * 200
            )
            # The served generation stays, and is called stale.
            async with asyncio.timeout(60):
                while True:
                    answer = await front.call("cortex_exact", query="check_password")
                    assert answer["results"], answer
                    assert "is full" in answer["index"]["message"]
                    if answer["results"][0].get("stale"):
                        break
                    await asyncio.sleep(0.05)
            filler.unlink()
            await front.until_found("overflowing_function", "auth/login.py")

    asyncio.run(ask())


def test_a_read_only_cache_is_one_sentence_that_names_it(project, mount):
    folder = mount("size=8m", "ro")
    done = project.run("index")
    assert done.returncode == 2
    assert "Read-only file system" in done.stderr
    assert str(folder) in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr
