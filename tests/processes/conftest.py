"""A project with short paths to its sockets; its processes must end with the test."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cortex.processes import attach, starting
from cortex.processes.child import SetSpec
from cortex.settings.config import Config, Server
from cortex.settings.folders.home import open_home, open_runtime
from cortex.system.errors import Unavailable
from tests.left_processes import processes_of, wait_for_end
from tests.processes.tiny_sets import OBEDIENT, child


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Config]:
    short = tempfile.mkdtemp(prefix="cx", dir="/tmp")
    monkeypatch.setenv("XDG_RUNTIME_DIR", short)
    root = tmp_path / "project"
    root.mkdir()
    project_config = Config(root=root.resolve(), server=Server(idle_exit_s=0.0))
    open_runtime(project_config)
    open_home(project_config)
    yield project_config
    with contextlib.suppress(Unavailable):
        attach.stop(project_config)
    try:
        wait_for_end(root)
    finally:
        for process in processes_of(root):
            process.kill()
        shutil.rmtree(short)


@pytest.fixture
def spawn_tiny(config: Config, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Make `attach` start sets of one obedient child."""
    real = starting.spec_of

    def tiny(config: Config, *, idle_exit: bool) -> SetSpec:
        return dataclasses.replace(
            real(config, idle_exit=idle_exit), commands={"text": child(OBEDIENT, config)}, forked=()
        )

    monkeypatch.setattr(attach, "spec_of", tiny)
    return config
