"""Hostile entries in place of a file or folder of ours: no other file is opened for writing,
emptied or made, no call waits, no memory is taken, and once the entry is gone everything works
again.
"""

import asyncio
import contextlib
import functools
import itertools
import json
import logging
import os
import resource
import shutil
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cortex.ask.freshness import Freshness
from cortex.front.cli import status
from cortex.front.cli.setup import doctor
from cortex.indexer.run import index
from cortex.processes import attach
from cortex.processes.child import LOG_BYTES_MAX
from cortex.processes.names import PROJECT
from cortex.publish.builder import Builder
from cortex.settings import config as configuration
from cortex.settings.config import INDEX_FORMAT, Config
from cortex.system import files
from cortex.system.errors import CortexError
from tests.consent import trust_files

#: megabytes that one round may add to the most memory that this process ever took
GROWTH_MB = 400
#: steps of publishing after which no work may be left
STEPS_MAX = 50
INDEX = f"index/{INDEX_FORMAT}"
FOLDERS = (
    "run", "chunks", "chunks/.tmp", "graph", "graph/.facts", "index", INDEX, f"{INDEX}/segments",
    f"{INDEX}/text", f"{INDEX}/text/writer", f"{INDEX}/vector",
)  # fmt: skip
FILES = (
    "project.json", "manifest.json", "run/indexer.json", "run/parsing-here", "run/watcher.log", "run/text.log",
    "run/supervisor.log", "run/text.log.1", f"{INDEX}/CURRENT", f"{INDEX}/.CURRENT.tmp", f"{INDEX}/writer.lock", "chunks/code-source.json.zst",
    "graph/code-graph.json", "graph/code-graph.000.json.zst", "graph/.facts/state.msgpack", "graph/.facts/facts.000.msgpack",
)  # fmt: skip
OF_PROJECT = (
    ".gitignore", ".cortexignore", "src/.gitignore", ".cortex/config.yml", ".cortex/chunks", ".cortex/graph",
    ".cortex/chunks/theirs.json", ".cortex/graph/theirs.json", ".git", ".git/info/exclude", "src/tsconfig.json",
    "src/package.json", "go.mod", ".cortex/run/watcher.log", ".cortex/index/segments", ".cortex/manifest.json",
)  # fmt: skip

HOSTILE_TEXT = "#!/bin/sh\nexport PATH=/bin\n" + "# kept\n" * 400_000


@pytest.fixture
def project(tmp_path: Path) -> Config:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "login.py").write_text("def check_password(name):\n    return name\n")
    return Config(root=root, explicit_root=True)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """The user's own files: a start-up file larger than any log may be, folders that are
    not empty.
    """
    folder = tmp_path / "elsewhere"
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / "kept").write_text(HOSTILE_TEXT)
    for name in ("old.json", "rows-00000001.seg", "deep/old", "deep/deeper/old", "7"):
        (folder / name).write_text("kept")
        os.utime(folder / name, (1, 1))
    os.utime(folder / "kept", (1, 1))
    return folder


def snapshot(folder: Path) -> dict[str, tuple[int, int, int, int]]:
    """Return the state of a folder's files, which any change but reading alters."""
    states = {}
    for path in sorted([folder, *folder.rglob("*")]):
        info = path.lstat()
        states[os.fspath(path)] = (info.st_mode, info.st_size, info.st_mtime_ns, info.st_nlink)
    return states


def bind_socket(path: Path) -> None:
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


Make = Callable[[Path, Path], object]
#: kind → functions of its path and the folder elsewhere that make it; places meet them in turn
KINDS: dict[str, tuple[Make, ...]] = {
    "a link to a file": (lambda path, target: path.symlink_to(target / "kept"),),
    "another link": (
        lambda path, target: path.symlink_to(target),
        lambda path, target: path.symlink_to(target / "made by us"),
        lambda path, _: path.symlink_to("/dev/zero"),
    ),
    "a pipe or a socket": (lambda path, _: os.mkfifo(path), lambda path, _: bind_socket(path)),
    "a folder": (lambda path, target: shutil.copytree(target / "deep", path),),
    "a terabyte of nothing": (lambda path, _: sparse(path),),
    "a second name of a file": (lambda path, target: path.hardlink_to(target / "kept"),),
}


def run_everything(config: Config) -> int:
    """Open every file below the project's folders, without processes; return the number of faults.

    Raises errors that are no sentence.
    """
    faults = 0
    for step in (index_all, publish_all, look, tend_logs):
        try:
            step(config)
        except (CortexError, OSError) as error:
            faults += bool(str(error))
    return faults


def index_all(config: Config) -> None:
    index(configuration.load(config.root))


def publish_all(config: Config) -> None:
    with contextlib.closing(Builder(config)) as builder:
        for _ in range(STEPS_MAX):
            if builder.refresh() is None:
                return
    raise AssertionError("publishing never ends")


def look(config: Config) -> None:
    freshness = Freshness(config)
    freshness.block(freshness.current(), [])
    freshness.progress()
    asyncio.run(status.collect(config))
    attach.set_status(config)
    attach._last_log_line(config)
    doctor.examine(str(config.root))


def tend_logs(config: Config) -> None:
    for name in (*PROJECT.workers, "supervisor"):
        path = config.run_dir / f"{name}.log"
        with contextlib.suppress(OSError):
            with os.fdopen(files.open_log(path), "ab") as log:
                log.write(b"rm -rf ~\n")
            files.trim_log(path, LOG_BYTES_MAX)


def serves(config: Config) -> bool:
    return bool(Freshness(config).current().rows)


@pytest.fixture(autouse=True)
def _no_growth() -> Iterator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < GROWTH_MB * 1024, f"{grown // 1024} MB more"


@pytest.fixture(autouse=True, scope="module")
def _installed() -> Iterator[None]:
    """What is installed stays as it is: the doctor looks once, and not in each of 260 rounds."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_packages", "_extras"):
            patch.setattr(doctor, name, functools.cache(getattr(doctor, name)))
        yield


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("places", [FOLDERS, FILES], ids=["folders", "files"])
def test_hostile_files_in_the_cache_change_no_other_file_and_are_repaired_or_reported(
    project, elsewhere, kind, places
):
    before = snapshot(elsewhere)
    assert run_everything(project) == 0
    for name, make in zip(places, itertools.cycle(KINDS[kind]), strict=False):
        place = project.home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        files.remove_tree(place)
        make(place, elsewhere)
        linked = {key: value[:3] for key, value in snapshot(elsewhere).items()}
        run_everything(project)
        after = {key: value[:3] for key, value in snapshot(elsewhere).items()}
        assert after == linked == {key: value[:3] for key, value in before.items()}, name
        files.remove_tree(place)
    files.remove_tree(project.home)
    assert run_everything(project) == 0
    assert serves(project)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_files_in_a_project_change_no_other_file_and_stop_no_process(project, elsewhere, kind):
    before = {key: value[:3] for key, value in snapshot(elsewhere).items()}
    for name, make in zip(OF_PROJECT, itertools.cycle(KINDS[kind]), strict=False):
        place = project.root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        make(place, elsewhere)
        faults = run_everything(project)
        assert {key: value[:3] for key, value in snapshot(elsewhere).items()} == before, name
        if name != ".cortex/config.yml":
            assert not faults, name
            assert serves(project), name
        files.remove_tree(project.root / name.partition("/")[0] if name.startswith(".") else place)
        files.remove_tree(project.home)


@pytest.mark.parametrize(
    "place", [lambda place: place.home, lambda place: place.home.parent, lambda place: place.run_dir]
)
def test_a_home_that_others_can_write_is_made_private(project, place):
    place = place(project)
    place.mkdir(parents=True, exist_ok=True)
    place.chmod(0o777)
    assert run_everything(project) == 0
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("name", ["", "index", INDEX, f"{INDEX}/segments", "chunks", "graph", "run"])
def test_a_folder_of_another_user_is_not_written(project, name):
    assert run_everything(project) == 0
    place = project.home / name
    shutil.rmtree(place)
    place.mkdir()
    (place / "theirs").write_text("kept")
    os.chown(place, 12345, 12345)
    assert run_everything(project) > 0
    assert sorted(os.listdir(place)) == ["theirs"]


def test_ids_of_chunk_files_forge_no_log_lines(project, caplog):
    """A log is formatted as the workers do: cortex.system.terminal."""
    from cortex.system.terminal import LogFormat

    chunks = project.root / ".cortex" / "chunks"
    chunks.mkdir(parents=True)
    body = [{"id": "a\nrm -rf ~\n\x1b[2J", "chunk_type": "code", "text": 5}]
    (chunks / "bad\nrm -rf ~\n\x1b[2J.json").write_text(json.dumps(body))
    (chunks / "half \udcff.json").write_text(json.dumps(body))
    trust_files(project.root)
    with caplog.at_level(logging.INFO):
        assert run_everything(project) == 0
    lines = [LogFormat("%(message)s").format(record) for record in caplog.records]
    assert any("rm -rf" in line for line in lines)
    assert all(line.isprintable() for line in lines if "rm -rf" in line)
