"""A project with empty folders."""

import pytest

from cortex.settings.config import Config


@pytest.fixture
def config(tmp_path):
    project_config = Config(root=tmp_path)
    project_config.index_dir.mkdir(parents=True)
    project_config.run_dir.mkdir()
    return project_config
