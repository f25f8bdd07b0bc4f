"""A model for notes: its vectors come in the background, the built-in ones answer until then."""

import itertools
import shutil
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from cortex.embedders import open_apart
from cortex.embedders.sentences import MODEL_DIR, Sentences
from cortex.embedders.static import open_static
from cortex.memory import serving
from cortex.memory.find import model_vectors, recall, vectors
from cortex.memory.find.background import BACKGROUND
from cortex.memory.find.catalog import Selection
from cortex.memory.find.model_vectors import STEP_NOTES
from cortex.memory.find.ranking import LONE_WEIGHTS, WEIGHTS
from cortex.memory.find.recall import Memory
from cortex.memory.find.vectors import OLDER_FORMS, TEXT_FORM
from cortex.memory.library import Library, finish
from cortex.memory.serving import open_worker
from cortex.memory.text import embedded_text
from cortex.settings.config import Config
from cortex.settings.data import MODEL, DataFolder
from cortex.settings.table import Embedding, NoteEmbedding
from cortex.system.errors import Unavailable
from ipc.messages import MemoryCall
from tests.embedders.conftest import models  # noqa: F401 - a fixture


@pytest.fixture
def model(tmp_path, models):  # noqa: F811
    folder = models.write(tmp_path / "words")
    embedding = Embedding(provider="onnx", model_path=str(folder), dimensions=models.dimensions)
    return partial(open_apart, Config(root=tmp_path, embedding=embedding))


@pytest.fixture
def open_memory(data, model):
    """Open the memory of this test, with the model unless another one is given."""
    opened = []

    def make(model=model):
        opened.append(Library.open(data, model=model))
        return opened[-1]

    yield make
    for library in opened:
        library.close()


class Faulty:
    """The built-in model, of which every fifth call fails `faults` times; counts embedded texts."""

    identity = "faulty"

    def __init__(self):
        self._inner = open_static()
        self.dimensions, self.count_tokens = self._inner.dimensions, self._inner.count_tokens
        self.calls = self.faults = self.embedded = 0

    def embed(self, texts, mode="passage"):
        self.calls += 1
        if self.faults and not self.calls % 5:
            self.faults -= 1
            raise Unavailable("Too many calls; wait a minute.")
        self.embedded += len(texts)
        return self._inner.embed(texts, mode)


class Recorded(Sentences):
    """The model of sentences, and the texts that it read."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def embed(self, texts, mode="passage"):
        self.texts += texts
        return super().embed(texts, mode)


def fill(library, count=4 * STEP_NOTES, word="socket"):
    library.import_records([{"note": {"title": f"{word} number {at}"}} for at in range(count)])


def file_of_rows(tmp_path):
    (path,) = tmp_path.glob("data/**/model-vectors/*.rows")
    return path


def answers(library):
    """Whether the model answers questions."""
    return library.memory.meaning is not library.memory.vectors


def test_an_erased_note_is_in_no_file_of_vectors_of_an_earlier_version(open_memory, tmp_path):
    with open_memory(None) as library:
        number = library.store("json decode")["number"]
    (path,) = tmp_path.glob("data/**/index/vectors/*.rows")
    path.rename(path.with_name("cortex-static-384-1.rows"))
    with open_memory(None) as library:
        finish(library.erase([number]))
    assert not [file for file in path.parent.iterdir() if file.stat().st_size]


def make_earlier(library, monkeypatch):
    """Embed the notes of a library in the earlier form, beginning with their kind; close it."""
    with monkeypatch.context() as patched:
        patched.setattr(vectors, "embedded_text", lambda note: f"{note.kind}: {note.title}\n{note.body}")
        fill(library, 60)
        library.store("We bake bread on Mondays", "In the large oven", kind="decision")
        finish(library.memory.embed())
    library.close()
    for rows in filter(None, (library.memory.vectors, library.memory.model and library.memory.meaning)):
        earlier = OLDER_FORMS[-1].format(rows.path.stem.removesuffix(f"-{TEXT_FORM}"))
        rows.path.rename(rows.path.with_name(earlier))


def vectors_of(memory):
    """Float16 [notes, dimensions]: the vectors that answer, by number of the note."""
    return memory.meaning._vectors(sorted(memory.meaning.numbers()))


@pytest.mark.parametrize("make", [None, Sentences], ids=["built-in", "sentences"])
def test_vectors_of_an_earlier_form_answer_until_the_background_renewed_them(open_memory, monkeypatch, make):
    monkeypatch.setattr(recall, "RENEWED", STEP_NOTES)
    make_earlier(open_memory(make), monkeypatch)
    library = open_memory(make)
    earlier = vectors_of(library.memory)
    assert library.memory.has_to_embed
    for _ in itertools.islice(library.memory.embed(), 3):
        assert library.recall("when do we bake bread")[0]["title"] == "We bake bread on Mondays"
    library.close()  # a restart begins again
    library = open_memory(make)
    assert library.memory.has_to_embed
    finish(library.erase([1]))
    new = library.store("The oven is cleaned on Fridays")["number"]
    finish(library.memory.embed())
    assert not library.memory.has_to_embed
    library.close()
    library = open_memory(make)
    assert not library.memory.has_to_embed
    assert sorted(library.memory.meaning.numbers()) == [*range(2, new + 1)]
    assert library.recall("when do we bake bread")[0]["title"] == "We bake bread on Mondays"
    renewed = vectors_of(library.memory)
    notes = library.memory.store.notes_by_number(range(2, new + 1))
    embedder = make() if make else open_static()
    expected = embedder.embed([embedded_text(note) for note in notes], "passage")
    assert renewed == pytest.approx(expected, abs=2e-3)
    assert np.abs(renewed[:-1] - earlier[1:]).max() > 0.02
    for rows in (library.memory.vectors, library.memory.meaning):
        assert [file.name for file in rows.path.parent.iterdir()] == [rows.path.name]


def test_renewal_goes_on_after_a_fault_of_the_embedder(open_memory, monkeypatch):
    monkeypatch.setattr(model_vectors, "RETRY_S", 0.0)
    embedder = Faulty()
    make_earlier(open_memory(lambda: embedder), monkeypatch)
    with open_memory(lambda: embedder) as library:
        renewed = library.memory.meaning
        embedder.faults, embedder.embedded = 3, 0
        tries = 0
        while library.memory.has_to_embed:
            finish(library.memory.embed())
            tries += 1
        assert tries == 4
        assert embedder.embedded == len(renewed.numbers()) == 61
        assert not renewed.is_older


def test_a_worker_renews_vectors_of_an_earlier_form(open_memory, data, monkeypatch):
    make_earlier(open_memory(None), monkeypatch)
    worker = open_worker(DataFolder(data))
    try:
        assert worker.patience() == serving.PAUSE_S
        finish(worker.background())
        assert not worker.ready().memory.vectors.is_older
    finally:
        worker.close()


def test_old_vectors_answer_until_all_notes_are_embedded(open_memory):
    with open_memory(None) as library:
        fill(library)
    library = open_memory()
    steps = library.memory.model.steps()
    for _ in range(2):
        assert not answers(library)
        assert library.recall("socket")
        next(steps)
    assert not answers(library)
    finish(steps)
    assert answers(library)
    assert library.memory.meaning.numbers() == library.memory.vectors.numbers()
    assert library.recall("socket")


def test_a_new_and_a_changed_note_are_embedded_at_once_by_a_ready_model(open_memory):
    library = open_memory()
    fill(library)
    finish(library.memory.model.steps())
    number = library.store("json decode")["number"]
    assert answers(library)
    assert library.memory.meaning.nearest("json", 1, exact=True) == [number]
    library.edit(number, title="hash password", body="")
    assert answers(library)
    assert library.memory.meaning.nearest("password", 1, exact=True) == [number]
    assert library.memory.meaning.nearest("decode", 1, exact=True) != [number]


def test_many_new_notes_wait_for_the_background(open_memory):
    library = open_memory()
    fill(library, 1)
    finish(library.memory.model.steps())
    fill(library, 3 * STEP_NOTES, "password")
    assert not answers(library)
    status = library.memory.model.status(library.memory.reached, library.memory.catalog.live())
    assert (status["embedded"], status["missing"]) == (1, 3 * STEP_NOTES)
    steps = library.memory.model.steps()
    next(steps)
    fill(library, 2 * STEP_NOTES, "host")  # while the steps run
    finish(steps)
    library.memory.follow()
    assert answers(library)
    assert library.memory.meaning.numbers() == library.memory.vectors.numbers()


KILLED = """
import sys
from functools import partial
from pathlib import Path
from cortex.embedders import open_apart
from cortex.memory.library import Library
from cortex.settings.config import Config
from cortex.settings.table import Embedding

data, folder = map(Path, sys.argv[1:3])
embedding = Embedding(provider="onnx", model_path=str(folder))
library = Library.open(data, model=partial(open_apart, Config(root=data, embedding=embedding)))
for _ in library.memory.model.steps():
    print("step", flush=True)
"""


@pytest.mark.parametrize("torn", [0, 1, 150], ids=["whole", "one byte", "rows"])
def test_a_kill_in_the_middle_loses_nothing(open_memory, tmp_path, torn):
    with open_memory(None) as library:
        fill(library, 60)
    command = [sys.executable, "-P", "-c", KILLED, str(tmp_path / "data"), str(tmp_path / "words")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        for _ in range(5):
            assert process.stdout.readline() == b"step\n"
        process.send_signal(signal.SIGKILL)
    rows = file_of_rows(tmp_path)
    rows.write_bytes(rows.read_bytes()[: rows.stat().st_size - torn])
    library = open_memory()
    status = library.memory.model.status(library.memory.reached, library.memory.catalog.live())
    assert status["embedded"] >= 5 * STEP_NOTES - 2 - (torn > 100) * STEP_NOTES
    assert status["embedded"] + status["missing"] == 60
    finish(library.memory.model.steps())
    assert answers(library)
    assert len(library.memory.meaning.numbers()) == 60
    assert library.recall("socket number 33")[0]["title"] == "socket number 33"


def test_an_import_that_a_restart_interrupts_is_embedded_once(open_memory):
    with open_memory(Recorded) as library:
        fill(library, 1)
        finish(library.memory.model.steps())
        fill(library, 5 * STEP_NOTES, "host")
        next(library.memory.model.steps())
    library = open_memory(Recorded)
    finish(library.memory.model.steps())
    assert answers(library)
    assert len(library.memory.meaning.numbers()) == 1 + 5 * STEP_NOTES
    assert len(library.memory.model._embedder.inner.texts) == 5 * STEP_NOTES


def test_a_cut_batch_of_changed_notes_is_embedded_again(open_memory, tmp_path):
    library = open_memory()
    fill(library)
    finish(library.memory.model.steps())
    numbers = sorted(library.memory.meaning.numbers())
    for number in numbers[:3]:
        library.memory.store.edit(number, {"title": f"salt {number}", "body": ""})
    library.memory.model.close()  # not ready: the background embeds
    library.memory.follow()
    finish(library.memory.model.steps())
    library.close()
    path = file_of_rows(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    library = open_memory()
    finish(library.memory.model.steps())
    assert answers(library)
    assert set(library.memory.meaning.nearest("salt", 3, exact=True)) == set(numbers[:3])


def test_erased_notes_leave_the_vectors_of_the_model_too(open_memory, tmp_path):
    library = open_memory()
    fill(library)
    finish(library.memory.model.steps())
    number = library.store("json decode")["number"]
    path = file_of_rows(tmp_path)
    size = path.stat().st_size
    finish(library.erase([number]))
    assert path.stat().st_size < size
    assert number not in library.memory.meaning.numbers()


def test_a_restored_store_is_embedded_anew(open_memory, tmp_path):
    library = open_memory()
    fill(library)
    finish(library.memory.model.steps())
    library.close()
    for path in (tmp_path / "data").glob("memory.sqlite3*"):
        path.unlink()
    with open_memory(None):
        pass
    assert not list(tmp_path.rglob("model-vectors"))  # without a model its files go
    library = open_memory()
    fill(library, 2, "host")
    finish(library.memory.model.steps())
    assert answers(library)
    assert len(library.memory.meaning.numbers()) == 2


def test_a_model_that_fails_is_replaced_by_the_built_in_one_and_tried_again(open_memory, monkeypatch):
    library = open_memory()
    fill(library)
    finish(library.memory.model.steps())
    embedder = library.memory.model._embedder
    monkeypatch.setattr(embedder.inner, "_ask", lambda _request: None)
    assert library.recall("socket number 3")[0]["title"] == "socket number 3"
    assert not answers(library)
    assert "does not answer" in library.memory.model.fault
    assert library.store("json decode")["number"]
    assert not library.memory.model.has_work(library.memory.reached)  # not before a while
    monkeypatch.undo()
    monkeypatch.setattr(model_vectors, "RETRY_S", 0.0)
    library.memory.model._retry_at = 0.0
    finish(library.memory.model.steps())
    library.memory.follow()
    assert answers(library)
    assert not library.memory.model.fault


def test_a_process_that_ends_is_started_again(open_memory):
    library = open_memory()
    fill(library)
    finish(library.memory.model.steps())
    library.memory.model._embedder.inner._child.kill()
    assert library.recall("json") is not None
    assert answers(library)


def test_the_process_ends_when_it_is_not_used(open_memory, monkeypatch):
    library = open_memory()
    fill(library)
    finish(library.memory.model.steps())
    embedder = library.memory.model._embedder.inner
    child = embedder._child
    library.memory.model.rest()
    assert child.poll() is None
    monkeypatch.setattr("cortex.embedders.child.REST_S", -1.0)
    library.memory.model.rest()
    assert child.poll() is not None
    library.memory.model.wake()
    library.recall("json")
    assert embedder.is_ready


def test_the_worker_embeds_between_calls_and_reports_the_state(tmp_path, models):  # noqa: F811
    data = tmp_path / "data"
    models.write(data / MODEL)
    worker = open_worker(DataFolder(data))
    try:
        worker.call(MemoryCall("store", {"title": "socket connect"}, project="here", writes=True))
        slices = worker.background()
        assert worker.patience() <= 1
        for _ in slices:
            pass
        state = worker.status().info["embedder"]
        assert state["model"].startswith("model@")
        assert (state["answers"], state["embedded"], state["missing"]) == (True, 1, 0)
    finally:
        worker.close()


def test_the_model_of_sentences_has_its_own_dimensions(tmp_path):
    worker = open_worker(DataFolder(tmp_path / "data", embedding=NoteEmbedding(dimensions=256)))
    try:
        assert worker.status().info["embedder"]["answers"]
    finally:
        worker.close()


def test_meaning_by_a_model_outweighs_words_for_a_note_that_is_no_turn(open_memory):
    library = open_memory()
    fill(library, 30)
    library.import_records(
        [
            {"note": {"title": "json parse"}},
            {"note": {"title": "Ada: json parse", "source": {"session": "walk"}}},
        ]
    )
    finish(library.memory.model.steps())
    hits = library.memory.rank_notes("json parse", Selection(), 40, 1.0)
    titles = {
        note.number: note.title for note in library.memory.store.notes_by_number([hit.number for hit in hits])
    }
    assert [titles[hit.number] for hit in hits[:2]] == ["json parse", "Ada: json parse"]
    lone, of_session = (hit.parts for hit in hits[:2])
    assert lone["alone"] > 1.5 * of_session["alone"] > 0
    assert lone["words"] == 0 < of_session["words"]
    assert sum(LONE_WEIGHTS.values()) == pytest.approx(sum(WEIGHTS.values()))


def test_a_cut_file_of_weights_stops_no_operation(open_memory, tmp_path):
    folder = tmp_path / "sentences"
    shutil.copytree(MODEL_DIR, folder)
    (folder / "weights.npz").write_bytes((MODEL_DIR / "weights.npz").read_bytes()[:1000])
    library = open_memory(partial(Sentences, folder))
    fill(library)
    finish(library.memory.model.steps())
    assert "install Cortex again" in library.memory.model.fault
    assert library.store("json decode")["number"]
    assert library.recall("socket number 3")[0]["title"] == "socket number 3"
    assert not answers(library)


def test_notes_erased_while_the_model_cannot_be_opened_leave_its_file(open_memory, tmp_path):
    with open_memory() as library:
        number = library.store("json decode")["number"]
        finish(library.memory.model.steps())
        path = file_of_rows(tmp_path)
    library = open_memory(missing_model)
    finish(library.erase([number]))
    assert not path.exists()


def missing_model():
    raise Unavailable("The model is gone; bring it back.")


@pytest.fixture
def past(data):
    """(memory in which the port of the gateway was superseded and that of the proxy reworded, its
    model, the moment before, and the texts of a question about that moment).
    """
    clock, model = itertools.count(1_790_000_000_000, 1000), Recorded()
    with Library(Memory(data, open_static(), lambda: next(clock), model=lambda: model)) as library:
        gateway, proxy, new = (
            library.store(f"The port of the {name}")["number"]
            for name in ("gateway is 1", "proxy is 2", "cat is 3")
        )
        finish(library.memory.model.steps())
        before = next(clock)
        library.edit(gateway, superseded_by=new)
        library.edit(proxy, title="The cook likes soup")
        assert answers(library)

        def texts_of(question):
            model.texts.clear()
            titles = [row["title"] for row in library.recall(question, as_of=before)]
            return titles, [text.strip() for text in model.texts if not text.startswith("port ")]

        yield texts_of


def test_a_question_about_the_past_embeds_only_the_texts_that_read_otherwise_now(past):
    titles, embedded = past("port of the gateway")
    assert titles[0] == "The port of the gateway is 1"
    assert embedded == ["The port of the proxy is 2"]


def test_many_earlier_texts_are_left_to_the_built_in_model(past, monkeypatch):
    monkeypatch.setattr("cortex.memory.find.recall.REWORDED_MAX", 0)
    titles, embedded = past("port of the proxy")
    assert titles[0] == "The port of the proxy is 2"
    assert not embedded


def test_the_name_of_one_error_finds_its_note_among_long_ones(open_memory):
    """The name is one word of many, of which a model of sentences knows nothing."""
    library = open_memory(Sentences)
    count = len(BACKGROUND)
    for at in range(count):
        body = ". ".join(BACKGROUND[(at + step) % count] for step in range(5))
        library.store(BACKGROUND[at], body=f"{body}. Seen with ERR_{4217 + 31 * at}.")
    finish(library.memory.model.steps())
    for at in range(0, count, 4):
        assert library.recall(f"what happened with ERR_{4217 + 31 * at}")[0]["title"] == BACKGROUND[at]
