"""A project whose folders are there and empty."""

import pytest

from cortex.settings.config import Config


@pytest.fixture
def config(tmp_path):
    made = Config(root=tmp_path)
    made.index_dir.mkdir(parents=True)
    made.run_dir.mkdir()
    return made
