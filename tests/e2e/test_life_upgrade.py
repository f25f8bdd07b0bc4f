"""An upgrade that replaces the installed files under a running set: the set ends or restarts, and
every answer is right or says to restart.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from cortex import __version__
from cortex.system.loaded_code import PACKAGES, RESTART
from tests.e2e.conftest import CALL_S, Project
from tests.wait_until import BOUND_S, until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
#: new name → the name in the version before: a module that fronts import late, a class and a
#: function that workers import
FORMER = {
    "empty_answers": "answers_without_hits",
    "EngineWorker": "WorkerOfAnEngine",
    "escape_in_line": "in_one_line",
}


def copy_packages(target: Path, names: dict[str, str]) -> None:
    """Install the packages in `target`: as they are, or with other names and as another version."""
    pattern = re.compile(rf"\b({'|'.join(names)})\b|(?<=__version__ = \")[^\"]*") if names else None
    for package in PACKAGES:
        for source in sorted((ROOT / package).rglob("*")):
            if not source.is_file() or "__pycache__" in source.parts:
                continue
            relative = source.relative_to(ROOT)
            copy = target / relative.with_name(names.get(source.stem, source.stem) + source.suffix)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if source.suffix != ".py":
                copy.symlink_to(source)
            else:
                text = source.read_text(encoding="utf-8")
                copy.write_text(
                    pattern.sub(lambda match: names.get(match[0], "0.0.1"), text) if pattern else text
                )


@pytest.fixture
def site(project: Project, tmp_path: Path) -> Iterator[Path]:
    """A folder with the version before, which all processes of the project import."""
    folder = tmp_path / "site"
    copy_packages(folder, FORMER)
    project.environment["PYTHONPATH"] = str(folder)
    yield folder
    project.run("down")


def upgrade(site: Path) -> None:
    for package in PACKAGES:
        shutil.rmtree(site / package)
    copy_packages(site, {})


def test_a_set_whose_files_an_upgrade_replaces_begins_anew_and_answers_say_what_to_do(project, site):
    async def talk():
        async with project.front() as old:
            await old.until_complete()
            worker = next(row["pid"] for row in project.status()["processes"] if row["name"] == "text")
            upgrade(site)
            os.kill(worker, signal.SIGKILL)
            sentences = set()
            async with asyncio.timeout(BOUND_S):
                while RESTART not in sentences:
                    try:
                        await old.call("cortex_exact", query="check_password")
                    except (AssertionError, MCPError) as error:
                        sentences |= {RESTART} if RESTART in str(error) else {str(error)}
                    await asyncio.sleep(0.1)
            assert not [text for text in sentences if "internal" in text.lower() or "Error:" in text]
        async with project.front() as new:
            await new.until_found("check_password", "auth/login.py")

    asyncio.run(asyncio.wait_for(talk(), 6 * CALL_S + BOUND_S))


def test_a_set_without_fronts_begins_anew_after_an_upgrade(project, site):
    done = project.run("up", "--detach")
    assert done.returncode == 0, done.stderr
    before = project.status()
    upgrade(site)

    async def talk():
        async with project.front() as front:
            await front.until_found("check_password", "auth/login.py")

    asyncio.run(asyncio.wait_for(talk(), CALL_S + BOUND_S))
    # the old set may answer first; a front that waits may start the new set before it begins anew
    assert before["idle_exit_s"] is None
    expected = (__version__, None)
    until(
        lambda: tuple(map(project.status().get, ("version", "idle_exit_s"), ("", 0))) == expected,
        "a new set runs until `cortex down`",
    )


def test_the_first_question_after_an_upgrade_is_answered_by_a_new_set(project, site):
    project.environment["CORTEX_SERVER_IDLE_EXIT_S"] = "60"
    assert project.run("search", "check_password").returncode == 0
    before = project.status()
    assert before["version"] == "0.0.1"
    # as an upgrade whose files the set has not checked yet
    project.environment["PYTHONPATH"] = str(ROOT)
    done = project.run("search", "check_password")
    assert (done.returncode, "auth/login.py" in done.stdout) == (0, True), done.stderr
    assert project.status()["pid"] != before["pid"]
