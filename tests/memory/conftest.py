"""Fixtures: a memory worker in this process, and a project with sessions for it."""

import functools
import tempfile
from pathlib import Path

import pytest

from cortex.memory.serving import open_worker
from cortex.memory.store import note_store
from cortex.memory.team.postgresql import Server, Shared
from cortex.settings.data import DataFolder
from tests.postgres import serving, with_memory
from tests.sample_sessions import SessionProject

#: suites that must pass with both places of memory
CONTRACT = (
    "test_store",
    "test_library",
    "test_note_history",
    "test_project_joins",
    "test_transfer",
    "test_upkeep_runs",
)


def pytest_generate_tests(metafunc):
    """Run each contract test with both places, except tests of the folder's own file."""
    if "kept_by" in metafunc.fixturenames and metafunc.module.__name__.rpartition(".")[2] in CONTRACT:
        both = metafunc.definition.get_closest_marker("of_the_file") is None
        metafunc.parametrize("kept_by", ["folder", "postgresql"] if both else ["folder"], indirect=True)


@pytest.fixture(scope="session")
def like():
    """(a server, the name of a database in it that serves as template)."""
    with serving() as server, tempfile.TemporaryDirectory() as folder:
        yield server, with_memory(server, Path(folder))


@pytest.fixture
def kept_by(request):
    """The place of memory in this test: each folder has a separate database."""
    if getattr(request, "param", "folder") == "folder":
        yield "folder"
        return
    server, name = request.getfixturevalue("like")
    with pytest.MonkeyPatch.context() as patched:
        address = functools.cache(lambda _folder: server.database(name))
        patched.setattr(
            note_store, "open_database", lambda folder, _: Shared(folder, Server(address(folder), "cortex"))
        )
        yield "postgresql"


@pytest.fixture
def data(kept_by, data):
    return data


@pytest.fixture
def worker(data):
    memory_worker = open_worker(DataFolder(data))
    yield memory_worker
    memory_worker.close()


@pytest.fixture
def shop(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def life(worker, shop, tmp_path):
    return SessionProject(worker, shop, tmp_path / "claude" / "projects")
