"""A briefing shows the newest side of each subject, once, and routine last."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cortex.embedders.static import open_static
from cortex.memory.briefings.disputed_notes import changes_among
from cortex.memory.find.newer.newer_notes import read_waiting
from cortex.memory.find.recall import Memory
from cortex.memory.library import Library, finish
from cortex.memory.note import Edge, Note
from tests.memory.small_memory import BEGIN, DAY_MS, open_small

LIVES = Path(__file__).parents[2] / "scripts" / "bench" / "lives"


@pytest.fixture
def library(data):
    with open_small(data) as opened:
        yield opened


def test_a_briefing_shows_the_newer_side_with_what_it_was(library):
    library.store("Ticket mails go out through RabbitMQ")
    library.store("Ticket mails run on NATS instead of RabbitMQ")
    text = library.briefing()["briefing"]
    assert (
        "- Ticket mails run on NATS instead of RabbitMQ (was: Ticket mails go out through RabbitMQ)" in text
    )
    assert "- Ticket mails go out" not in text


@pytest.fixture(scope="module", params=["veterinary", "ferry"])
def life(request, tmp_path_factory):
    """The name of a life, and its briefing after a month."""
    now = [BEGIN]
    with Library(
        Memory(tmp_path_factory.mktemp("life"), open_static(), lambda: now[0]), project="here"
    ) as month:
        lines = (LIVES / f"{request.param}.txt").read_text().splitlines()
        notes = sorted(
            (line.split("|") for line in lines if line.startswith("note|")), key=lambda c: int(c[1])
        )
        for at, (_, day, _, kind, title, *_) in enumerate(notes):
            now[0] = BEGIN + int(day) * DAY_MS + at
            month.store(title, kind=kind)
        yield request.param, month.briefing()["briefing"]


def test_the_briefing_of_a_month_lists_a_repeated_preference_once(life):
    name, text = life
    first, repeat = {
        "veterinary": ("Hanna wants scripts to have a dry run", "Every script should have a dry run, Hanna said again"),
        "ferry": ("Ingrid prefers small pull requests", "Ingrid asked for small pull requests again"),
    }[name]  # fmt: skip
    assert (first in text) + (repeat in text) == 1


def test_the_briefing_of_a_month_has_a_changed_wish_in_one_line(life):
    name, text = life
    older, newer = {
        "veterinary": ("Tomek wants lines of at most 79 characters", "Tomek accepts lines of up to 100 characters"),
        "ferry": ("Review comments should be written in Norwegian", "Please write review comments in English, the new colleagues read no Norwegian"),
    }[name]  # fmt: skip
    [line] = [line for line in text.splitlines() if older in line or newer in line]
    assert line == f"- {newer} (was: {older})"


def test_the_briefing_of_a_month_lists_routine_of_one_form_once_and_last(life):
    _, text = life
    assert len(re.findall("Released version", text)) <= 1
    headings = re.findall("^## (.*)", text, re.MULTILINE)
    routine = [name for name in headings if name in {"Recent events", "Observations", "Active context"}]
    assert headings[len(headings) - len(routine) :] == routine
    for section in text.split("## "):
        assert section.partition("\n")[0] not in routine or section.count("\n- ") <= 5
    assert len(text) <= 4 * 700


def test_a_listed_note_whose_repeat_has_no_line_stays_listed(library):
    library.store("Mira wants tests named by their behaviour", kind="preference")
    for at in range(12):
        library.store(f"Depot {at} has {at + 3} ramps of steel", importance=0.9)
    library.store("Mira wants every test named by its behaviour, in plain words", importance=0.4)
    assert "named by their behaviour" in library.briefing()["briefing"]


def test_notes_of_a_series_contradict_each_other_in_no_briefing(library):
    for at in range(4):
        library.store(f"Decision {at} of the shop about its tickets", kind="decision")
        library.store(f"Depot {at} has {at + 3} ramps of steel")
    text = library.briefing()["briefing"]
    assert "## Contradictions" not in text
    assert len(re.findall("Decision|Depot", text)) == 9  # with the heading


def test_a_newer_note_that_has_no_line_is_listed_for_the_one_that_it_outdates(library):
    library.store("We want to sort letters with a robot", kind="goal")
    for at in range(12):
        library.store(f"Depot {at} has {at + 3} ramps of steel", importance=0.9)
    library.store("The robot for sorting letters is given up", importance=0.4)
    [line] = [line for line in library.briefing()["briefing"].splitlines() if "robot" in line]
    assert "(was: We want to sort letters with a robot)" in line or "↔" in line


def test_a_briefing_is_short_and_has_routine_last(library):
    for at in range(25):
        library.store(f"Released version {at} of the web shop to all customers", kind="event", importance=0.9)
        library.store(
            f"Rule {at}: never deploy a service number {at} on a Friday, nor in the week before a fair",
            kind="preference",
        )
    text = library.briefing()["briefing"]
    assert len(text) <= 4 * 700
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings[0] == "## Preferences"
    assert headings.index("## Key facts") < headings.index("## Recent events")


def judged(older, newer, *, detection="correction", likelihood=0.0, kind="fact"):
    """The changes among two notes that upkeep connected."""
    notes = {
        1: Note(older, kind=kind, number=1, created_at=1),
        2: Note(newer, kind="decision", number=2, created_at=2),
    }
    edges = [Edge(2, 1, "contradicts", detection=detection)] if detection else []
    return changes_among(notes, {1, 2}, edges, lambda *_: likelihood)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The archive of scanned tickets is on tape", "The archive of scanned tickets is no longer searchable by name"),
        ("Child tickets cost half of the fare", "Dog tickets no longer cost half of the fare, they are free"),
        ("Helium for MR2 is topped up by Siemens", "MR2 chiller isn't a Siemens job any more, Daikin service it"),
        ("Mortuary CT is done on CT3 before 7 am", "Mortuary CT needs two signatures, not one any more"),
    ],
)  # fmt: skip
def test_a_correction_of_something_else_is_no_contradiction_unless_somebody_said_so(older, newer):
    for kind in ("fact", "event"):
        assert judged(older, newer, kind=kind).disputes == []
    assert judged(older, newer, detection="manual").disputes == [(1, 2)]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ilse likes feedback on paper, not in the chat", "Please give Ilse feedback on paper rather than in the chat"),
    ],
)  # fmt: skip
def test_two_notes_that_say_the_same_are_one_line(older, newer):
    changes = judged(older, newer, detection="", kind="preference")
    assert (changes.disputes, len(changes.outdated)) == ([], 1)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Do not deploy on Fridays", "Deploy on Fridays"),
        ("Never run migrations before deploying the API", "Run migrations before deploying the API"),
        ("The cache isn't shared by the workers", "The cache is shared by the workers"),
    ],
)
def test_a_note_without_the_denial_of_an_older_one_repeats_nothing(older, newer):
    assert judged(older, newer, detection="", kind="preference").outdated == set()


def test_a_value_that_is_true_again_is_left():
    titles = "Deploys go out on Friday", "Deploys go out on Monday", "Deploys go out on Friday again"
    notes = {at: Note(title, kind="fact", number=at, created_at=at) for at, title in enumerate(titles, 1)}
    for last in (0.97, 0.0):
        read = {(1, 2): 0.98, (2, 3): last}
        changes = changes_among(
            notes, {1, 2, 3}, [], lambda older, newer, read=read: read.get((older.number, newer.number), 0.0)
        )
        assert changes.outdated == ({1, 2} if last else {1})


def test_a_change_that_no_word_shows_is_a_contradiction_if_the_model_read_it():
    sides = "42 kinds of fish", "Scope knife: the fish go from forty-two to 28"
    assert judged(*sides, detection="", kind="goal").disputes == []
    assert judged(*sides, detection="", kind="goal", likelihood=0.9).disputes == [(1, 2)]
    sure = judged(*sides, detection="", kind="goal", likelihood=0.96)
    assert (sure.disputes, sure.outdated, set(sure.was)) == ([], {1}, {2})


def test_a_goal_that_a_later_event_reached_is_marked_as_in_an_answer(data):
    now = [BEGIN]
    goals = {
        "Move the job queue from RabbitMQ to NATS": "The job queue moved from RabbitMQ to NATS",
        "Ship the ticket scanner app by April": "Shipped the ticket scanner app to the app stores",
    }
    with Library(Memory(data, open_static(), lambda: now[0]), project="here") as library:
        numbers = {}
        for day, (title, kind) in enumerate(
            [*((goal, "goal") for goal in goals), *((end, "event") for end in goals.values())]
        ):
            now[0] = BEGIN + day * DAY_MS
            numbers[title] = library.store(title, kind=kind)["number"]
            finish(read_waiting(library.memory))
        library.store("Write a guide for new drivers", kind="goal")
        text = library.briefing()["briefing"]
        for goal, event in goals.items():
            answer = library.recall(goal)
            assert [numbers[goal]] in [
                row.get("may_disagree") for row in answer if row["number"] == numbers[event]
            ]
            assert f"- {goal} (may be outdated: {event}, " in text
    assert "- Write a guide for new drivers\n" in f"{text}\n"
