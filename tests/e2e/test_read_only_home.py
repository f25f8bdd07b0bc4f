"""A cache folder that cannot be written: its index is served, and answers say so."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.e2e.conftest import Project

pytestmark = pytest.mark.e2e


@pytest.fixture
def read_only(project: Project) -> Iterator[Project]:
    """The project, indexed, with its cache folder on a file system that is then read-only."""
    assert project.run("index").returncode == 0
    project.run("down")
    place = str(project.config.home.parent.parent)
    if os.getuid():
        pytest.skip("only root mounts")
    for options in (["--bind", place, place], ["-o", "remount,ro,bind", place]):
        if subprocess.run(["mount", *options], check=False, capture_output=True).returncode:
            pytest.skip("no mount here")
    try:
        yield project
    finally:
        project.run("down")
        subprocess.run(["umount", place], check=True)


def test_a_read_only_cache_folder_is_served_and_named(read_only: Project) -> None:
    place = str(read_only.config.home)
    for arguments in (
        ("exact", "check_password"),
        ("search", "check password"),
        ("explore", "check_password"),
    ):
        ended = read_only.run(*arguments, "--json")
        assert ended.returncode == 0, ended.stderr
        assert ended.stderr == ""
        answer = orjson.loads(ended.stdout)
        assert "auth/login.py" in ended.stdout
        assert f"{place} cannot be written" in answer["index"]["message"]
        assert answer["index"]["degraded"] == []
    (read_only.root / "auth" / "login.py").write_text("def check_password(): pass\n")
    answer = orjson.loads(read_only.run("exact", "check_password", "--json").stdout)
    assert answer["index"]["pending"] == ["auth/login.py"]
    assert not list(Path(read_only.config.runtime_dir.parent).glob(".text.*"))
