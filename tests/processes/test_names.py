"""The processes of each set. CORTEX_UPDATE_GOLDEN=1 writes the Procfile."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from cortex.embedders import EMBEDDERS
from cortex.engines.milvus.place import Milvus
from cortex.processes import starting
from cortex.processes.child import SetSpec
from cortex.processes.names import EMBED, HTTP, INDEXER, KINDS, MEMORY, PROJECT, SESSIONS, WATCHER
from cortex.settings.config import Config, Server
from cortex.settings.data import DataFolder
from cortex.settings.table import Embedding, Memory, Provider
from cortex.system.errors import EXIT_USAGE
from tests.milvus_lite import in_milvus
from workers.__main__ import main as run_worker

ROOT = Path(__file__).resolve().parents[2]


def test_the_procfile_lists_the_processes_of_all_sets() -> None:
    stays = {SESSIONS: ["--stay"]}  # the end of one process ends all others of a Procfile
    text = "".join(
        f"{process.name}: {' '.join((process.program, *process.arguments, *stays.get(process.name, ())))}\n"
        for kind in KINDS.values()
        for process in kind.processes
    )
    if os.environ.get("CORTEX_UPDATE_GOLDEN"):
        (ROOT / "Procfile").write_text(text)
    assert (ROOT / "Procfile").read_text() == text


def test_every_worker_is_a_module_and_every_module_a_worker() -> None:
    modules = {path.stem for path in (ROOT / "workers").glob("[!_]*.py")}
    assert modules == {"milvus", *(name for kind in KINDS.values() for name in kind.workers)}
    assert {process.name for process in PROJECT.processes} == {*PROJECT.workers, INDEXER, HTTP}


def test_writers_stop_first_then_announcers_then_workers_that_answer() -> None:
    answering = tuple(name for name in PROJECT.workers if name != WATCHER)
    assert PROJECT.stop_order == (("indexer", "http"), ("watcher",), answering)
    assert MEMORY.stop_order == (("sessions",), ("memory",))


def test_without_automatic_indexing_no_indexer_is_started(config: Config) -> None:
    remote = dataclasses.replace(config, embedding=Embedding("http"))
    spec = starting.spec_of(remote, idle_exit=True, http=True)
    assert list(spec.command_lines()) == [process.name for process in PROJECT.processes]
    assert HTTP not in starting.spec_of(config, idle_exit=True).command_lines()
    spec_without_indexer = starting.spec_of(
        dataclasses.replace(remote, server=Server(auto_index=False)), idle_exit=True
    )
    assert set(spec_without_indexer.command_lines()) == set(PROJECT.workers)


@pytest.mark.parametrize("uri", ["/elsewhere/index.db", "http://127.0.0.1:19530"])
def test_with_milvus_no_indexer_starts_and_a_file_has_its_process(config: Config, uri: str) -> None:
    milvus_config = dataclasses.replace(config, **in_milvus(Milvus(uri)))
    spec = SetSpec.load(starting.spec_of(milvus_config, idle_exit=True).dump())
    assert INDEXER not in spec.command_lines()
    assert ("milvus" in spec.command_lines()) == uri.endswith(".db")
    answering = (*PROJECT.stop_order[-1], *(["milvus"] if uri.endswith(".db") else ()))
    assert spec.of_kind.stop_order == (("indexer", "http"), ("watcher",), answering)


@pytest.mark.parametrize("provider", sorted(set(EMBEDDERS) - {"static"}))
def test_an_embed_worker_starts_only_if_embedding_is_slow_or_remote(
    config: Config, provider: Provider
) -> None:
    assert EMBED not in starting.spec_of(config, idle_exit=True).command_lines()
    remote = dataclasses.replace(config, embedding=Embedding(provider))
    assert EMBED in starting.spec_of(remote, idle_exit=True).command_lines()


def test_a_set_of_memory_belongs_to_its_data_folder(tmp_path: Path) -> None:
    spec = SetSpec.load(starting.spec_of(DataFolder(tmp_path), idle_exit=True).dump())
    assert (spec.kind, spec.root, spec.without) == ("memory", str(tmp_path), ())
    assert {name: line[-2:] for name, line in spec.command_lines().items()} == {
        "memory": ["--data-dir", str(tmp_path)],
        "sessions": ["--data-dir", str(tmp_path)],
    }
    unread = DataFolder(tmp_path, Memory(sessions="off"))
    assert set(starting.spec_of(unread, idle_exit=True).command_lines()) == {"memory"}


def test_memory_has_one_worker_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run_worker(["memory", "--data-dir", str(tmp_path), "--replica", "1"])
    assert end.value.code == EXIT_USAGE
    assert "one owner of the store" in capsys.readouterr().err
