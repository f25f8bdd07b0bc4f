"""A real milvus-lite behind its process, as in a set."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex.engines.milvus.engine import MilvusEngine
from cortex.engines.milvus.place import Milvus
from cortex.engines.milvus.plug import PLUG
from cortex.engines.milvus.publishing.lite import file_served
from cortex.settings.config import Config
from cortex.settings.table import Engines

#: the path of the tests' own file, once it is served
_SERVED = "CORTEX_TESTS_MILVUS"


def in_milvus(settings: Milvus) -> dict[str, Any]:
    """Return the fields of a Config with its index there."""
    return {"engines": Engines("milvus", "milvus"), "plug": PLUG, "plug_settings": settings}


def with_milvus(config: Config, file: Path | str, **settings: object) -> Config:
    """Return `config` with its index in that file; the project's name is its folder's whole
    path.
    """
    digest = hashlib.sha256(os.fsencode(config.root)).hexdigest()[:12]
    place = Milvus(uri=str(file), project=f"{config.root.name}-{digest}")
    return dataclasses.replace(config, **in_milvus(dataclasses.replace(place, **settings)))


class LiteEngine(MilvusEngine):
    """An engine over the tests' own file."""

    def __init__(self, config: Config) -> None:
        super().__init__(with_milvus(config, os.environ[_SERVED]))


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Path]:
    """Serve a file of milvus-lite; yield its path."""
    if importlib.util.find_spec("milvus_lite") is None:
        pytest.skip("milvus-lite is not installed here: scripts/requirements.lock brings it")
    project, file = folder / "project", folder / "lite.db"
    project.mkdir(parents=True, exist_ok=True)
    with file_served(with_milvus(Config(root=project), file)):
        os.environ[_SERVED] = str(file)
        yield file


@pytest.fixture(scope="session")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file of a milvus-lite that is served."""
    with serving(tmp_path_factory.mktemp("milvus")) as file:
        yield file
