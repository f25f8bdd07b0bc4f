"""A real set over loopback TCP with keys, as on Windows: selected here by a variable."""

from __future__ import annotations

import asyncio
import stat

import psutil
import pytest

from cortex.system.process import sockets
from tests.e2e.conftest import Project

pytestmark = pytest.mark.e2e


def test_a_set_without_unix_sockets_serves_follows_and_ends(project, facts, monkeypatch):
    monkeypatch.setenv(sockets.LOOPBACK, "1")
    project.environment[sockets.LOOPBACK] = "1"
    asyncio.run(_live(project, facts))
    assert project.run("down").returncode in (0, 1)  # it ends by itself as well
    project.nothing_left()


async def _live(project: Project, facts: dict[str, str]) -> None:
    async with project.front() as front:
        await front.until_complete()
        for word, path in facts.items():
            assert path in await front.files("cortex_exact", word)
        folder = project.config.runtime_dir
        places = sorted(folder.glob("*.sock"))
        assert {"supervisor.sock", "events.sock", "text.0.sock"} <= {path.name for path in places}
        assert all(stat.S_ISREG(path.lstat().st_mode) for path in places)
        (project.root / "late.md").write_text("# Later\n\nA pomegranate was added.\n")
        await front.until_found("pomegranate", "late.md")
        psutil.Process(project.member("text")["pid"]).kill()
        await front.until_complete()
        assert project.run("status").returncode == 0
