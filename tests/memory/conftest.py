"""An empty data folder, made once: bringing a new one up to date takes a process."""

import shutil

import pytest

from cortex.memory.database import LOCK, Database


@pytest.fixture(scope="session")
def empty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("empty")
    Database(folder).close()
    (folder / LOCK).unlink()
    return folder


@pytest.fixture
def data(empty, tmp_path):
    return shutil.copytree(empty, tmp_path / "data", copy_function=shutil.copy)
