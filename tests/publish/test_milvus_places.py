"""Changes of the Milvus server, or of a project's name there: from then on no answer comes from the
old place. On two real milvus-lite.
"""

from __future__ import annotations

import dataclasses
import errno

import pytest

from cortex.ask.freshness import Freshness
from cortex.engines.milvus.place import PROJECT_BYTES_MAX, milvus_place
from cortex.engines.milvus.publishing.publisher import prune_places
from cortex.engines.serving import EngineWorker
from cortex.generation.formats import LOCK
from cortex.settings.config import Config
from cortex.system import files
from cortex.system.errors import Misconfigured
from ipc.locks import hold
from ipc.messages import ExactSearch, OutlineSearch
from tests.milvus_lite import serving, with_milvus
from tests.publish.test_milvus_publisher import SOURCES, Machine, paths

ELSEWHERE = {"shop/till.py": "def price(thing):\n    return thing.pence\n"}


@pytest.fixture(scope="module")
def second(tmp_path_factory):
    """Return another milvus-lite."""
    with serving(tmp_path_factory.mktemp("second")) as file:
        yield file


@pytest.mark.parametrize("what", ["uri", "collection", "project"])
def test_after_another_setting_nothing_is_answered_from_the_old_place(tmp_path, milvus, second, what):
    name = f"{tmp_path.name}-{what}"
    changed = {"uri": str(second), "collection": "other", "project": f"{name}-other"}[what]

    def moved(machine):
        settings = dataclasses.replace(machine.config.plug_settings, **{what: changed})
        machine.config = dataclasses.replace(machine.config, plug_settings=settings)

    Machine(tmp_path / "a" / "shop", milvus, name).publish()
    other_machine = Machine(tmp_path / "b" / "shop", milvus, name, ELSEWHERE)
    moved(other_machine)
    other_machine.publish()

    reader = Machine(tmp_path / "c" / "shop", milvus, name, {})
    before, hashed = reader.config.index_dir, reader.config.hash()
    assert reader.workers()[OutlineSearch](OutlineSearch("shop/money.py")).paths == ("shop/money.py",)
    moved(reader)
    assert reader.config.hash() != hashed
    assert not Freshness(reader.config).current().number
    assert not EngineWorker("graph", reader.config).status().generation
    handlers = reader.workers()
    assert paths(handlers[ExactSearch](ExactSearch("price"))) == ["shop/till.py"]
    assert not handlers[OutlineSearch](OutlineSearch("shop/money.py")).paths
    assert handlers[OutlineSearch](OutlineSearch("shop/till.py")).paths == ("shop/till.py",)
    assert not before.exists()


def test_an_indexer_brings_nothing_over_from_the_old_place(tmp_path, milvus):
    name = f"{tmp_path.name}-goes"
    machine = Machine(tmp_path / "a" / "shop", milvus, name, SOURCES)
    machine.publish()
    settings = dataclasses.replace(machine.config.plug_settings, project=f"{name}-on")
    machine.config = dataclasses.replace(machine.config, plug_settings=settings)
    assert machine.publish().rows == machine.collection.count(machine.collection.project)
    current_folder = dataclasses.replace(machine.config, writes=True).index_dir.parent
    assert list(current_folder.parent.iterdir()) == [current_folder]


@pytest.mark.parametrize("number", ["10", "9"])
def test_an_index_that_is_written_inside_a_sandbox_stays(tmp_path, number):
    own_folder, other = tmp_path / "own" / "10", tmp_path / "other" / number
    for folder in (own_folder, other, tmp_path / "left" / "10"):
        folder.mkdir(parents=True)
    with hold(other / LOCK, Misconfigured):
        (other / LOCK).write_bytes(b"7 1")  # a process number of another namespace
        prune_places(own_folder)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "own"]
    prune_places(own_folder)
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


def test_a_folder_that_cannot_be_removed_keeps_no_other(tmp_path, monkeypatch):
    own_folder = tmp_path / "own" / "10"
    for name in ("a", "b", "c", "own"):
        (tmp_path / name / "10").mkdir(parents=True)
    remove = files.remove_tree

    def refuse(path):
        if path.name == "b":
            raise PermissionError(errno.EPERM, "Belongs to another user", str(path))
        remove(path)

    monkeypatch.setattr(files, "remove_tree", refuse)
    prune_places(own_folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "own"]


def test_a_clone_whose_origin_changes_is_another_project(tmp_path):
    (tmp_path / ".git").mkdir()
    config = with_milvus(Config(root=tmp_path), tmp_path / "x.db", project="")
    (tmp_path / ".git" / "config").write_text('[remote "origin"]\n\turl = git@host:one/shop.git\n')
    before = config.index_dir, config.hash()
    assert milvus_place(config).project == "host/one/shop"
    (tmp_path / ".git" / "config").write_text('[remote "origin"]\n\turl = git@host:two/shop.git\n')
    assert config.index_dir != before[0]
    assert config.hash() != before[1]


@pytest.mark.parametrize("name", ["a b", "x" * (PROJECT_BYTES_MAX + 1), "é" * 101, 'p" or "1" == "1'])
def test_a_name_that_milvus_cannot_hold_is_refused_in_a_sentence(tmp_path, name):
    with pytest.raises(Misconfigured, match=r"bytes of them at most .* set milvus\.project to another"):
        milvus_place(with_milvus(Config(root=tmp_path), tmp_path / "x.db", project=name))
    assert milvus_place(with_milvus(Config(root=tmp_path), tmp_path / "x.db", project="é" * 100)).project
