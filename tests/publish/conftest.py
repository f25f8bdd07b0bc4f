"""A builder of an empty project, and a running milvus-lite."""

import pytest

from cortex.publish.builder import Builder
from cortex.settings import config as configuration
from tests.milvus_lite import milvus

__all__ = ["milvus"]


@pytest.fixture
def config(tmp_path):
    loaded = configuration.load(tmp_path)
    loaded.chunks_dir.mkdir(parents=True)
    return loaded


@pytest.fixture
def builder(config):
    created = Builder(config)
    yield created
    created.close()
