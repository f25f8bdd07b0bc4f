"""Projects with a small graph, and the worker that serves it."""

import pytest

from tests.engines.small_graph import make_config, open_graph, publish, write_graph
from tests.milvus_lite import milvus

__all__ = ["milvus"]


@pytest.fixture(scope="session")
def new_config(tmp_path_factory):
    """A function that makes a project; for graphs that several tests only read."""
    return lambda: make_config(tmp_path_factory.mktemp("graph"))


@pytest.fixture
def config(tmp_path):
    return make_config(tmp_path)


@pytest.fixture(scope="session")
def worker(new_config):
    """Serves the small graph to all tests, which change neither it nor its files."""
    return _serve_small(new_config())


@pytest.fixture
def own_worker(config):
    """Serves the small graph to a test that changes it, its files or its snapshot."""
    return _serve_small(config)


def _serve_small(config):
    write_graph(config)
    publish(config)
    return open_graph(config)
