"""Failures around an index in Milvus, with the real milvus-lite in its own process."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest

from cortex.engines.milvus.place import Milvus, milvus_place
from cortex.engines.milvus.publishing import lite
from cortex.engines.milvus.publishing.publisher import Mirror, writing
from cortex.engines.milvus.storage import collection as rows_in_milvus
from cortex.engines.milvus.storage.collection import FOREVER, Collection
from cortex.engines.milvus.storage.documents import read_document, write_document
from cortex.engines.serving import EngineWorker
from cortex.indexer.run import index
from cortex.settings.config import Config
from cortex.system.errors import CortexError, Misconfigured, NotReady, Unavailable
from ipc.messages import ExactSearch, TextSignals
from tests.milvus_lite import in_milvus
from tests.wait_until import until

pytest.importorskip(
    "milvus_lite", reason="milvus-lite is not here: pip install 'cortex-context-engine[milvus]'"
)

FIRST = {"boat.py": "def anchor():\n    return 'harbour'\n", "tree.py": "def grow():\n    return 'orchard'\n"}
SECOND = {"boat.py": "def anchor():\n    return 'lagoon'\n", "cart.py": "def roll():\n    return 'meadow'\n"}


class Machine:
    """A machine that indexes and serves the project, with separate folders."""

    def __init__(self, folder: Path, file: Path, project: str = "shop") -> None:
        (folder / ".git").mkdir(parents=True)
        place = in_milvus(Milvus(str(file), project=project))
        self.config = Config(root=folder, explicit_root=True, **place)
        self.writer = dataclasses.replace(self.config, writes=True)
        self._mirror: Mirror | None = None
        self._worker: EngineWorker | None = None

    def save(self, texts: dict[str, str]) -> None:
        for path in self.config.root.glob("*.py"):
            path.unlink()
        for name, text in texts.items():
            (self.config.root / name).write_text(text)

    def publish(self) -> int:
        with writing(self.writer) as publish:
            index(self.writer)
            return publish().number

    def find(self, query: str) -> list[str]:
        """Paths of the chunks with the words, in the newest generation."""
        self._mirror = self._mirror or Mirror(self.config)
        self._mirror.refresh()
        return self.ask(query)

    def ask(self, query: str) -> list[str]:
        """As `find`, in the last followed generation."""
        if self._worker is None:
            self._worker = EngineWorker("text", self.config)
        self._worker.reload()
        return sorted({hit.path for hit in self._worker.handlers[ExactSearch](ExactSearch(query)).hits})

    def paths_by_word(self) -> dict[str, list[str]]:
        words = ("harbour", "orchard", "lagoon", "meadow")
        return {word: paths for word in words if (paths := self.find(word))}

    def forget(self) -> None:
        """Delete all local files, as on a new machine."""
        self.close()
        shutil.rmtree(self.config.home, ignore_errors=True)

    def close(self) -> None:
        if self._mirror is not None:
            self._mirror.close()
        self._mirror = self._worker = None


def state_of(task: Path) -> str:
    return (task / "stat").read_text().rpartition(")")[2].split()[0]


class Lite:
    """The process of the file; a test may stop, kill and restart it."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        lite.open_runtime(self._config)
        lite.private_dir(milvus_place(self._config).folder)
        self._process = lite._start(self._config)
        until(self._answers, "milvus-lite answers")

    def _answers(self) -> bool:
        with (
            contextlib.suppress(CortexError),
            contextlib.closing(Collection(milvus_place(self._config))) as collection,
        ):
            collection.create_collections()
            return True
        return False

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        tasks = Path(f"/proc/{self._process.pid}/task")
        if number == signal.SIGSTOP and tasks.exists():  # it may answer until each thread has stopped
            until(lambda: all(state_of(task) == "T" for task in tasks.iterdir()), "milvus-lite stands still")

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        assert self._process is not None
        self._process.wait()

    def go_on(self) -> None:
        """Run again, if a test that failed has left the process otherwise."""
        assert self._process is not None
        if self._process.poll() is None:
            self.signal(signal.SIGCONT)
        else:
            self.start()

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.signal(signal.SIGCONT)
            lite._end(self._process)


@pytest.fixture(scope="module")
def runtime():
    """A runtime folder with a name short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="cx") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@pytest.fixture(scope="module")
def shared_process(runtime, tmp_path_factory):
    """(a file, its process), of the projects of all tests."""
    folder = tmp_path_factory.mktemp("kept")
    machine = Machine(folder / "first", folder / "index.db")
    process = Lite(machine.config)
    yield folder / "index.db", process
    process.close()


@pytest.fixture
def shared_file(shared_process):
    """A file for tests that leave its process alone."""
    return shared_process[0]


@pytest.fixture
def machine(shared_file, tmp_path, request):
    """A machine with a project of this test alone."""
    fresh = Machine(
        tmp_path / "here", shared_file, project=request.node.name[:80].replace("[", "-").replace("]", "")
    )
    yield fresh
    fresh.close()


@pytest.fixture
def stopped(machine, shared_process):
    """(a machine, the process of its file) for a test that stops that, and starts it again."""
    process = shared_process[1]
    yield machine, process
    process.go_on()


@pytest.fixture
def other(machine, shared_file, tmp_path):
    """Another machine with the same project."""
    fresh = Machine(tmp_path / "there", shared_file, project=machine.config.plug_settings.project)
    yield fresh
    fresh.close()


def test_one_machine_serves_and_continues_the_index_of_another(machine, other):
    machine.save(FIRST)
    first = machine.publish()
    assert other.paths_by_word() == {"harbour": ["boat.py"], "orchard": ["tree.py"]}
    other.save(SECOND)
    assert other.publish() > first
    assert machine.paths_by_word() == other.paths_by_word() == {"lagoon": ["boat.py"], "meadow": ["cart.py"]}


def test_an_unreachable_engine_is_reported_and_answers_again_without_a_restart(stopped):
    machine, process = stopped
    machine.save(FIRST)
    machine.publish()
    assert machine.find("harbour") == ["boat.py"]
    process.kill()
    with pytest.raises(Unavailable, match=r"Milvus at .*index\.db cannot be asked to .*ask again then\."):
        machine.ask("orchard")
    with pytest.raises(Unavailable, match=r"Milvus at .*index\.db"):
        machine.publish()
    process.start()
    assert machine.ask("orchard") == ["tree.py"]
    assert machine.paths_by_word() == {"harbour": ["boat.py"], "orchard": ["tree.py"]}
    machine.save(SECOND)
    machine.publish()
    assert machine.paths_by_word() == {"lagoon": ["boat.py"], "meadow": ["cart.py"]}


def test_an_engine_unreachable_at_the_start_is_reported_and_served_later(stopped):
    machine, process = stopped
    machine.save(FIRST)
    machine.publish()
    machine.forget()
    process.kill()
    with pytest.raises(Unavailable, match=r"Milvus at .*index\.db"):
        machine.find("harbour")
    process.start()
    assert machine.find("harbour") == ["boat.py"]


def test_a_silent_engine_is_reported_after_its_deadline(stopped, monkeypatch):
    machine, process = stopped
    machine.save(FIRST)
    machine.publish()
    assert machine.find("harbour") == ["boat.py"]
    monkeypatch.setattr(rows_in_milvus, "ASK_S", 1.0)
    process.signal(signal.SIGSTOP)
    with pytest.raises(Unavailable, match=r"Milvus at .*index\.db cannot be asked"):
        machine.ask("orchard")
    process.signal(signal.SIGCONT)
    assert until(lambda: answered(machine, "orchard")) == ["tree.py"]


def answered(machine, query):
    with contextlib.suppress(Unavailable):
        return machine.ask(query)
    return None


class Killed(BaseException):
    """The process ended here, and none of its code ran after."""


def test_a_publish_killed_at_any_stage_is_invisible_and_the_next_one_repairs_it(machine, other, monkeypatch):
    machine.save(FIRST)
    machine.publish()
    before, after = machine.paths_by_word(), {"lagoon": ["boat.py"], "meadow": ["cart.py"]}
    plain, left = Collection._do, 0

    def killed(self, what, ask):
        nonlocal left
        if what in ("write", "delete"):
            if not left:
                raise Killed
            left -= 1
        return plain(self, what, ask)

    stages = 0
    for writes in itertools.count():
        left = writes
        monkeypatch.setattr(Collection, "_do", killed)
        machine.save(SECOND)
        died = False
        try:
            machine.publish()
        except Killed:
            died = True
        monkeypatch.setattr(Collection, "_do", plain)
        other.forget()
        answers = other.paths_by_word()
        assert answers in (before, after), f"after {writes} writes"
        if not died:
            assert answers == after
            break
        stages += 1
        machine.save(FIRST)  # the next job begins with the files and rows that the killed one left
        if writes % 2:
            shutil.rmtree(machine.writer.home, ignore_errors=True)
        machine.publish()
        other.forget()
        assert other.paths_by_word() == before, f"mended after {writes} writes"
    assert stages > 3  # rows, dying rows, files, the document


@pytest.mark.parametrize("writes", [0, 3])
def test_milvus_killed_during_a_publish_has_the_old_or_the_new_generation(stopped, monkeypatch, writes):
    machine, process = stopped
    plain, left = Collection._do, writes

    def dying(self, what, ask):
        nonlocal left
        if what in ("write", "delete"):
            if not left:
                process.kill()
            left -= 1
        return plain(self, what, ask)

    machine.save(FIRST)
    machine.publish()
    before, after = machine.paths_by_word(), {"lagoon": ["boat.py"], "meadow": ["cart.py"]}
    machine.save(SECOND)
    monkeypatch.setattr(Collection, "_do", dying)
    with pytest.raises(Unavailable, match=r"Milvus at .*index\.db cannot be asked to"):
        machine.publish()
    monkeypatch.setattr(Collection, "_do", plain)
    process.start()
    assert machine.paths_by_word() in (before, after)
    machine.publish()
    assert machine.paths_by_word() == after


def test_two_indexers_of_one_project_are_one_winner_and_one_error(machine, other):
    machine.save(FIRST)
    other.save(SECOND)
    with writing(machine.writer) as publish:
        ran = subprocess.run(
            [sys.executable, "-P", "-c", SECOND_INDEXER, str(other.config.root), *_settings(other)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "is being indexed by process" in ran.stderr, ran.stderr
        index(machine.writer)
        publish()
    assert machine.paths_by_word() == {"harbour": ["boat.py"], "orchard": ["tree.py"]}
    other.publish()
    assert machine.paths_by_word() == {"lagoon": ["boat.py"], "meadow": ["cart.py"]}


SECOND_INDEXER = """
import sys
from pathlib import Path
from cortex.engines.milvus.place import Milvus
from cortex.engines.milvus.plug import PLUG
from cortex.engines.milvus.publishing.publisher import writing
from cortex.settings.config import Config
from cortex.settings.table import Engines
root, uri, project = sys.argv[1:]
place = Milvus(uri, project=project)
config = Config(root=Path(root), engines=Engines("milvus", "milvus"), plug=PLUG, plug_settings=place, writes=True)
with writing(config):
    print("both have it")
"""


def _settings(machine):
    return machine.config.plug_settings.uri, machine.config.plug_settings.project


def test_a_row_of_a_failed_generation_is_never_shown(machine):
    machine.save(FIRST)
    machine.publish()
    assert machine.find("harbour") == ["boat.py"]
    machine.save(SECOND)
    machine.publish()
    with contextlib.closing(Collection(milvus_place(machine.config))) as collection:
        assert collection.count(f"{collection.project} and died < {FOREVER}") > 0
    assert machine.find("harbour") == []
    assert machine._worker is not None
    ranked = machine._worker.handlers[TextSignals](TextSignals("harbour orchard anchor", 10))
    assert {hit.path for hit in ranked.hits} <= {"boat.py", "cart.py"}
    assert machine.find("orchard") == []


def test_an_index_of_another_version_is_refused_with_advice(machine):
    machine.save(FIRST)
    machine.publish()
    with contextlib.closing(Collection(milvus_place(machine.config))) as collection:
        document = read_document(collection)
        assert document is not None
        write_document(collection, msgspec.structs.replace(document, schema=document.schema + 1))
        for ask in (machine.publish, lambda: machine.find("harbour")):
            with pytest.raises(
                Misconfigured, match=r"this version of Cortex reads .*install the version|index it again"
            ):
                ask()
        write_document(collection, document)
    assert machine.find("harbour") == ["boat.py"]


def test_removed_rows_are_reported_in_place_of_an_incomplete_answer(machine):
    machine.save(FIRST)
    machine.publish()
    with contextlib.closing(Collection(milvus_place(machine.config))) as collection:
        collection.delete(f'{collection.project} and path == "boat.py"')
    with pytest.raises(NotReady, match=r"rows of generation .*: run `cortex index --to milvus`"):
        machine.find("harbour")
    machine.publish()
    machine.forget()
    assert machine.find("harbour") == ["boat.py"]
    machine.save({})
    with contextlib.suppress(CortexError):
        machine.publish()


def test_a_generation_without_its_rows_is_not_ready(machine, other):
    machine.save(FIRST)
    machine.publish()
    assert other.find("harbour") == ["boat.py"]
    with contextlib.closing(Collection(milvus_place(machine.config))) as collection:
        for text in ("one", "two", "three"):
            machine.save(FIRST | {"more.py": f"def more():\n    return '{text}'\n"})
            machine.publish()
        collection.delete(
            f"{collection.project} and died < {FOREVER}"
        )  # as the clock does after sixty seconds
    assert other._worker is not None
    context = other._worker.handlers[ExactSearch]
    with contextlib.suppress(NotReady):
        assert {hit.path for hit in context(ExactSearch("more")).hits} <= {"more.py"}
    assert other.find("three") == ["more.py"]


def test_a_project_sees_nothing_of_another_one_of_the_same_collection(machine, shared_file, tmp_path):
    machine.save(FIRST)
    machine.publish()
    neighbour = Machine(
        tmp_path / "neighbour", shared_file, project=f"{machine.config.plug_settings.project}-2"
    )
    neighbour.save(SECOND)
    neighbour.publish()
    assert machine.paths_by_word() == {"harbour": ["boat.py"], "orchard": ["tree.py"]}
    assert neighbour.paths_by_word() == {"lagoon": ["boat.py"], "meadow": ["cart.py"]}
    neighbour.close()
