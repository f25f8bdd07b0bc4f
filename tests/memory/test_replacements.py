"""The replacement model, and the file of its readings."""

from __future__ import annotations

import itertools
import shutil
from dataclasses import replace

import numpy as np
import pytest

from cortex.embedders.static import open_static
from cortex.front.text import render
from cortex.memory.find.newer import newer_notes
from cortex.memory.find.newer.newer_notes import read_waiting
from cortex.memory.find.newer.replacement_model import MODEL_DIR, REPLACES, ReplacementModel
from cortex.memory.find.newer.replacements import Replacements
from cortex.memory.find.recall import Memory
from cortex.memory.library import Library, finish
from cortex.memory.note import Note, Source
from cortex.memory.operations import carry_out
from cortex.system.errors import Damaged
from tests.memory.small_memory import BEGIN, DAY_MS, OTHERS, open_small

OLD = Note(title="Releases are shipped by running Ansible from the bastion", number=1)
NEW = Note(title="Argo CD ships our releases since Monday", number=2)


@pytest.fixture(scope="module")
def model():
    return ReplacementModel()


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (
            "Releases are shipped by running Ansible from the bastion",
            "Argo CD ships our releases since Monday",
        ),
        (
            "The API allows 100 requests per minute",
            "The limit of the API was raised to 500 requests per minute",
        ),
        ("Emergency calls go to Dr. Brandt", "Dr. Silva takes the emergency calls"),
        ("Invoices are mailed through Postfix", "Mailgun delivers the invoices"),
    ],
)
def test_another_value_of_one_subject_replaces_a_note(model, older, newer):
    assert model.read([(older, newer)])[0, REPLACES] > 0.5


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (
            "Releases are shipped by running Ansible from the bastion",
            "Ansible playbooks are kept in the folder ops",
        ),
        ("Production runs on Postgres 14", "Staging moved to Postgres 16"),
        ("The API allows 100 requests per minute", "A hundred requests per minute is what the API allows"),
        ("We deploy on Fridays", "Somebody asked whether we should deploy on Mondays"),
    ],
)
def test_another_subject_aspect_or_wording_replaces_none(model, older, newer):
    assert model.read([(older, newer)])[0, REPLACES] < 0.3


def test_a_pair_is_read_alike_alone_and_among_others(model):
    pairs = [
        (OLD.title, NEW.title),
        ("", ""),
        ("Ünïcode façade 漢字 🎺", "naïve (½) test"),
        ("word " * 300, "x" * 500),
        (NEW.title, OLD.title),
    ] * 4
    together, alone = model.read(pairs), [model.read([pair])[0] for pair in pairs]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert ((together >= 0) & (together <= 1)).all()
    assert not len(model.read([]))


def test_missing_weights_are_a_clear_error(tmp_path):
    (tmp_path / "model.json").write_bytes((MODEL_DIR / "model.json").read_bytes())
    with pytest.raises(Damaged, match="install Cortex again"):
        ReplacementModel(tmp_path)


def test_what_was_read_is_kept_and_lapses_with_the_texts(tmp_path):
    first = Replacements(tmp_path)
    [value] = first.read(NEW, [OLD])
    for replacements in (first, Replacements(tmp_path)):
        assert replacements.likelihood(OLD, NEW) == pytest.approx(value, abs=1e-6)
        assert replacements.newer_than(1) == [2]
        assert replacements.likelihood(NEW, OLD) == 0
        assert replacements.likelihood(OLD, replace(NEW, title="Lunch is at noon")) == 0
        assert replacements.likelihood(replace(OLD, body="Not on Fridays."), NEW) == 0
        replacements.expect([NEW, replace(OLD, number=3)])
        assert replacements.waiting == [3]
        replacements.expect([replace(NEW, title="Lunch is at noon")])
        assert replacements.waiting == [2, 3]


def test_a_damaged_row_and_a_dropped_note_leave_the_others(tmp_path):
    first = Replacements(tmp_path)
    first.read(NEW, [OLD])
    others = [replace(OLD, number=11), replace(NEW, number=12)]
    first.read(others[1], others[:1])
    raw = first.path.read_bytes()
    first.path.write_bytes(raw[:-3])
    cut = Replacements(tmp_path)
    assert cut.newer_than(1) == [2]
    cut.follow([1, 2, 11, 12])
    assert cut.waiting == [1, 11, 12]
    assert cut.path.stat().st_size < len(raw)
    first.path.write_bytes(raw)
    first.drop([1])
    for replacements in (first, Replacements(tmp_path)):
        assert replacements.newer_than(1) == []
        assert replacements.newer_than(11) == [12]


def test_a_changed_fact_comes_first_without_a_word_of_change(data):
    with open_small(data) as library:
        library.store("Emergency calls at night go to Dr. Brandt")
        library.store("Dr. Silva takes the emergency calls at night")
        library.store("Emergency calls by day go to the front desk")
        first, second = library.recall("Who gets emergency calls at night?")[:2]
        assert (first["title"], second["title"]) == (
            "Dr. Silva takes the emergency calls at night",
            "Emergency calls at night go to Dr. Brandt",
        )
        assert library.node(second["number"])["state"] == "active"


def test_notes_whose_readings_are_lost_are_read_in_the_background(data):
    with open_small(data) as library:
        old = library.store("Emergency calls at night go to Dr. Brandt")["number"]
        new = library.store("Dr. Silva takes the emergency calls at night")["number"]
        assert library.memory.replacements.newer_than(old) == [new]
    for file in data.rglob("replacements/*.rows"):
        file.unlink()
    memory = Memory(data, open_static())
    with Library(memory, project="here"):
        assert memory.replacements.newer_than(old) == []
        for _ in read_waiting(memory):
            pass
        assert memory.replacements.newer_than(old) == [new]
        assert not memory.replacements.waiting


ASPECTS = (
    "Emergency calls at night go to Dr. Brandt",
    "Emergency calls by day go to the front desk",
    "The front desk closes at eight in the evening",
    "Dr. Brandt has a key of the front door",
    "Calls are recorded for training",
    "Dr. Silva takes the emergency calls at night",
    "At night the front door is locked",
)


QUESTIONS = ("Who takes calls at night?", "What does Dr. Brandt do?", "When is the front desk closed?")


def answers_after(folder, *, waits):
    """What is read of ASPECTS, and the answers about them after a restart; `waits`: the numbers
    of notes that waited to be read after each store.
    """
    with open_small(folder) as library:
        for title in ASPECTS:
            library.store(title)
            waits.append(len(library.memory.replacements.waiting))
    with open_small(folder, is_new=False) as library:  # nothing was read in the background before it
        finish(read_waiting(library.memory))
        assert not library.memory.replacements.waiting
        rows = [library.recall(question) for question in QUESTIONS]
        answers = [
            [(row["number"], row.get("may_disagree"), row.get("newer")) for row in some] for some in rows
        ]
        read = {
            (older, newer): round(library.memory.replacements.likelihood(*notes), 4)
            for notes in itertools.permutations(library.memory.store.notes_by_number(range(1, 13)), 2)
            for older, newer in [(notes[0].number, notes[1].number)]
        }
        return read, answers


def test_answers_are_the_same_whether_notes_are_read_at_once_or_in_the_background(tmp_path, monkeypatch):
    waits, more = [], []
    monkeypatch.setattr(newer_notes, "AT_ONCE", newer_notes.PROPOSED)
    at_once = answers_after(tmp_path / "at once", waits=waits)
    monkeypatch.setattr(newer_notes, "AT_ONCE", 0.3)
    later = answers_after(tmp_path / "later", waits=more)
    assert waits[-1] == 0 < more[-1]
    assert at_once == later
    assert sum(value > 0.5 for value in at_once[0].values()) > 1


def test_a_store_leaves_unlikely_pairs_to_the_background(data):
    read = []

    class Counting(ReplacementModel):
        def read(self, pairs):
            read.extend(pairs)
            return super().read(pairs)

    with open_small(data) as library:
        library.memory.replacements = Replacements(data / "other", Counting)
        for title in ASPECTS:
            library.store(title)
        at_once = len(read)
        finish(read_waiting(library.memory))
        assert 0 < at_once < len(read) == len(set(read))  # no pair is read twice


def test_the_newest_of_a_chain_comes_first(tmp_path):
    days = itertools.count()
    with Library(
        Memory(tmp_path, open_static(), lambda: BEGIN + next(days) * 15 * DAY_MS), project="here"
    ) as library:
        for title in (
            *OTHERS[:2],
            "Nightly backups go to the NAS in the cellar",
            "Backblaze holds the nightly backups",
            "Nightly backups are written to Hetzner storage",
            "Lunch is served at noon",
        ):
            library.store(title)
        rows = library.recall("Where do the nightly backups go?")
        assert [row["number"] for row in rows][:3] == [5, 4, 3]


CHAIN = (
    "Sprint reviews are on Wednesdays at 14:00",
    "The review was moved to Fridays at 10:00",
    "No more Friday reviews, we meet on Mondays at 15:00",
)


def test_the_newest_of_a_chain_is_named_for_each_earlier_note(data):
    with open_small(data) as library:
        first, second, third = (library.store(title)["number"] for title in CHAIN)
        for question in ("When is the sprint review?", "what time do we show the results of a sprint"):
            rows = library.recall(question)
            marks = {older: row["number"] for row in rows for older in row.get("may_disagree", ())}
            assert {number: marks.get(number) for number in (first, second)} == {first: third, second: third}


def test_a_store_names_all_notes_of_a_chain_and_gives_the_call_for_likely_ones_alone(data):
    with open_small(data) as library:
        first, second, third = (library.store(title) for title in CHAIN)
        likely = [row["number"] for row in third["similar"] if row.get("likely")]
        assert sorted(likely) == [first["number"], second["number"]]
        call = '{{"id": "{}", "supersedes": ["{}", "{}"]}}'.format(third["number"], *likely)
        assert f"Replaces {likely[0]} and {likely[1]}? {call}" in render("cortex_store", third)


def test_a_store_asks_about_a_similar_note_that_it_hardly_replaces(data):
    with open_small(data) as library:
        library.store("The sorter stops after 20 jams")
        other = library.store("The sorter for letters stops after 5 jams")
        assert other["similar"]
        assert not any(row.get("likely") for row in other["similar"])
        text = render("cortex_store", other)
        assert "If it replaces one:" in text
        assert '"supersedes": ["' not in text


def test_notes_wait_again_when_one_that_was_read_with_them_changes(data):
    with open_small(data) as library:
        old = library.store("Invoices are mailed through Postfix")["number"]
        new = library.store("Mailgun delivers the invoices")["number"]
        library.edit(old, title="Invoices are mailed by Postfix")
        assert library.memory.replacements.waiting == [old, new]
    memory = Memory(data, open_static())
    with Library(memory, project="here"):
        assert memory.replacements.waiting == [old, new]
        for _ in read_waiting(memory):
            pass
        assert memory.replacements.likelihood(*memory.store.notes_by_number([old, new])) > 0.5


@pytest.mark.parametrize("lost", ["index", "index/replacements", "weights"])
def test_a_note_is_stored_where_no_reading_can_be_made_or_kept(data, lost):
    with open_small(data) as library:
        old = library.store("Emergency calls at night go to Dr. Brandt")["number"]
        if lost == "weights":
            library.memory.replacements = Replacements(data / "other", lambda: ReplacementModel(data))
        else:
            shutil.rmtree(data / lost)
        new = library.store("Dr. Silva takes the emergency calls at night")["number"]
        rows = library.recall("Who gets emergency calls at night?")
        assert {row["number"] for row in rows} >= {old, new}


def test_readings_of_notes_that_are_gone_are_dropped_at_the_next_start(data):
    with open_small(data) as library:
        old = library.store("Emergency calls at night go to Dr. Brandt")["number"]
        library.store("Dr. Silva takes the emergency calls at night")
        library.memory.store.erase([old])  # and the process is killed
    memory = Memory(data, open_static())
    with Library(memory, project="here"):
        rows = np.fromfile(memory.replacements.path, "<u8").reshape(-1, 4)
        assert len(rows)
        assert old not in rows[:, :2]


def test_an_accepted_note_of_another_project_precedes_only_then(tmp_path):
    days, person = itertools.count(), Source("", "", "cli", "user")
    with Library(
        Memory(tmp_path, open_static(), lambda: BEGIN + next(days) * 15 * DAY_MS), project="here"
    ) as library:

        def ask(operation, caller="here", source=person, **arguments):
            return carry_out(library, operation, arguments, project=caller, source=source)

        ask("store", title="Invoices are mailed through Postfix")
        agent = Source("claude", "s1", "mcp", "agent")
        ask("store", "there", agent, title="Mailgun delivers the invoices", project="here")
        ask("store", title="Lunch is served at noon")
        question = "How are invoices mailed?"
        assert [row["number"] for row in ask("recall", query=question)["results"]][:2] == [1, 2]
        ask("accept", numbers=[2])
        library.memory.follow()
        for _ in read_waiting(library.memory):
            pass
        assert [row["number"] for row in ask("recall", query=question)["results"]][:2] == [2, 1]


def test_a_correction_within_a_minute_comes_first(data):
    """People try a memory by telling it something, and something else."""
    with Library(Memory(data, open_static()), project="here") as library:
        for title in OTHERS:
            library.store(title)
        old = library.store("Retries use exponential back-off with five attempts")["number"]
        new = library.store("Retries: three attempts, then the dead letter queue")["number"]
        first, second = library.recall("How many attempts do retries have?")[:2]
        assert (first["number"], second["number"], first["may_disagree"]) == (new, old, [old])
