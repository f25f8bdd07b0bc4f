"""A project for each test, without the machine's environment."""

import os

import pytest


@pytest.fixture(autouse=True)
def _clean(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith(("CORTEX_", "CLAUDE_PROJECT")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    (root / ".cortex").mkdir(parents=True)
    return root.resolve()
