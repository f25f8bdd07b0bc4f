"""A project with empty folders, and a small shop."""

import pytest

from cortex.settings.config import Config
from tests.ask.explored_shop import SHOP


@pytest.fixture
def config(tmp_path):
    project_config = Config(root=tmp_path)
    project_config.index_dir.mkdir(parents=True)
    project_config.run_dir.mkdir()
    return project_config


@pytest.fixture(scope="module")
def shop(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("shop")
    for name, text in SHOP.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return serve(root)
