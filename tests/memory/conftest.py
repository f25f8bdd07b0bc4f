"""A worker of memory in this process, and a project whose sessions it is told."""

import pytest

from cortex.memory.serving import opened
from cortex.settings.data import DataFolder
from tests.told_sessions import Life


@pytest.fixture
def worker(data):
    made = opened(DataFolder(data))
    yield made
    made.close()


@pytest.fixture
def shop(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def life(worker, shop, tmp_path):
    return Life(worker, shop, tmp_path / "claude" / "projects")
