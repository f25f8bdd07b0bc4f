"""Files that are cut, or made unreadable, under a running set and between two: every word is found
again without a save.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wait_until import BOUND_S, until

pytestmark = pytest.mark.e2e

#: runs a program without root's right to read and write against the modes; other users have no such
#: right
OBEDIENT = """
import ctypes, os, sys
for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    ctypes.CDLL(None).prctl(24, right, 0, 0, 0)  # PR_CAPBSET_DROP
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_segments_that_are_cut_under_a_running_set_are_made_again_by_it(project, facts):
    """A process that has a segment mapped is killed by SIGBUS when it reads behind the new end."""

    async def ask():
        async with project.front() as front:
            await front.until_complete()
            before = front.pid
            segments = project.config.index_dir / "segments"
            cut = {path.name for path in segments.glob("*.seg")}
            for name in cut:
                os.truncate(segments / name, 4096 if (segments / name).stat().st_size > 8192 else 1)
            await front.until_complete()
            assert front.pid == before
            assert not cut & _current_segments(project)
            for word, path in facts.items():
                await front.until_found(word, path)

    asyncio.run(ask())
    project.nothing_left()


def _current_segments(project) -> set[str]:
    """Return the segments of the current generation."""
    from cortex.generation.current import read_current

    return {segment.name for segment in read_current(project.config.index_dir).segments}


def run_without_override(project, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-c",
            OBEDIENT,
            str(Path(sys.executable).parent / "cortex"),
            *arguments,
            "--project",
            str(project.root),
        ],
        env=os.environ | project.environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="rights are dropped as Linux does it")
def test_unreadable_files_are_reported_or_rebuilt_and_all_other_files_are_found(project, facts):
    closed = [project.root / "closed", project.root / "secret.py"]
    closed[0].mkdir()
    (closed[0] / "inside.py").write_text("def inside_closed(): return 1\n")
    closed[1].write_text("def closed_itself(): return 1\n")
    for path in closed:
        path.chmod(0)
    try:
        done = run_without_override(project, "index", "--verbose")
        assert done.returncode == 0, done.stderr
        printed = done.stdout + done.stderr
        assert "closed" in printed
        assert "secret.py" in printed
        assert "Permission denied" in printed
        word, file = next(iter(facts.items()))
        until(lambda: file in run_without_override(project, "exact", word).stdout, word)
        assert run_without_override(project, "exact", "closed_itself").returncode != 0
        run_without_override(project, "down")
        for path in _files(project.config.home):
            path.chmod(0)
        until(lambda: file in run_without_override(project, "exact", word).stdout, f"{word} again")
    finally:
        for path in closed:
            path.chmod(0o700)


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]
