"""Projects to index, each with its own user folders."""

from __future__ import annotations

import shutil
import tempfile

import pytest

from cortex.settings.config import Config
from tests.indexer.indexed_tree import DEAR, FILES


@pytest.fixture(autouse=True, scope="module")
def _private_places():
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        patch.setenv("XDG_CONFIG_HOME", folder)
        patch.setenv("CORTEX_HOME", folder)
        yield


@pytest.fixture
def project(tmp_path) -> Config:
    shutil.copytree(FILES, tmp_path / "project")
    return Config(root=(tmp_path / "project").resolve())


@pytest.fixture
def quick(project) -> Config:
    """The project without the files of DEAR languages, for tests that start processes."""
    for path in (project.root / "shop").iterdir():
        if path.suffix in DEAR:
            path.unlink()
    return project
