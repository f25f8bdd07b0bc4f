"""The tools of observations after the life of a project: they answer what is known of it."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import orjson
import pytest

from cortex.memory.library import Library
from cortex.memory.note import Source
from tests.life import BEGIN, CONCEPTS, DAY_MS, FILES, SECRET, TYPES, live

LIFE = live()


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """(the memory after that life, title → number)."""
    with Library.open(tmp_path_factory.mktemp("life") / "memory") as library:
        yield library, tell(library, LIFE)


def tell(library, life):
    """Store all that was told, each at its moment: title → number."""
    numbers = {}
    for one in life.told:
        library.memory.now = library.memory.store._now = lambda at=one["at"]: at
        whose = library.of(project=one["project"], source=Source("claude", one["session"], "mcp", "agent"))
        supersedes = [numbers[title] for title in one.get("supersedes", ())]
        made = whose.store(**one["note"], supersedes=supersedes)
        numbers.setdefault(one["note"]["title"], made["number"])
    library.memory.now = library.memory.store._now = lambda: life.end
    return numbers


@pytest.fixture
def ask(lived, open_window):
    window = open_window(project="shop")
    window.memory.library = lived[0]
    return window.ask


def pages(ask, name, **arguments):
    """The titles of all pages."""
    titles, offset = [], 0
    while offset is not None:
        page = ask(name, **arguments, offset=offset)
        titles += [row["title"] for row in page.get("results", page.get("observations"))]
        offset = page.get("next_offset")
    return titles


def known(**wanted):
    return {
        title
        for title, note in LIFE.notes.items()
        if note["state"] == "active" and all(test(note) for test in wanted.values())
    }


def test_every_observation_is_there_once_and_each_that_was_replaced_is_hidden(ask):
    told = pages(ask, "search", limit=50)
    assert len(told) == len(set(told))
    assert set(told) == known()
    assert set(pages(ask, "search", limit=50, include="superseded")) == set(LIFE.notes)
    assert LIFE.doubled
    assert LIFE.replaced


def test_what_is_found_by_type_by_tag_and_by_file_is_what_is_known(ask):
    for obs_type in TYPES:
        assert set(pages(ask, "find_by_type", type=obs_type)) == known(
            type=lambda note, it=obs_type: note["obs_type"] == it
        )
    for concept in CONCEPTS:
        wanted = known(tag=lambda note, it=concept: it in note["tags"])
        assert set(pages(ask, "get_observations_by_tag", tag=concept)) == wanted
        assert set(pages(ask, "find_by_concept", concepts=concept)) == wanted
    for path in FILES:
        assert set(pages(ask, "find_by_file", files=path)) == known(
            file=lambda note, it=path: it in note["files"]
        )


def test_fields_are_anded_whatever_they_are(ask):
    middle = BEGIN + LIFE.days * DAY_MS // 2
    told = pages(
        ask,
        "search",
        obs_type="bugfix,feature",
        concepts="network,storage",
        files="src/net,src/cart",
        dateStart=str(middle),
    )
    assert set(told) == known(
        type=lambda note: note["obs_type"] in ("bugfix", "feature"),
        tag=lambda note: {"network", "storage"} & set(note["tags"]),
        file=lambda note: any(path.startswith(("src/net/", "src/cart/")) for path in note["files"]),
        time=lambda note: note["at"] >= middle,
    )


def test_a_timeline_has_the_neighbours_in_time(ask, lived):
    order = sorted(known(), key=lambda title: LIFE.notes[title]["at"])
    for at in (0, 7, len(order) // 2, len(order) - 1):
        told = ask("timeline", anchor_id=str(lived[1][order[at]]), before=3, after=4, max_tokens=9_000)
        assert [row["title"] for row in told["results"]] == order[max(0, at - 3) : at + 5]


def test_recent_is_what_was_noted_last(ask):
    order = sorted(known(), key=lambda title: -LIFE.notes[title]["at"])
    assert [row["title"] for row in ask("get_recent_context", limit=10)["results"]] == order[:10]


def test_what_was_believed_is_told_of_every_moment(ask):
    for old, (new, moment) in LIFE.replaced.items():
        topic = LIFE.notes[old]["topic"]
        query = f"what did we decide on for {topic}"
        before = [row["title"] for row in ask("search", query=query, as_of=str(moment - 1))["results"]]
        after = [row["title"] for row in ask("search", query=query, as_of=str(moment))["results"]]
        assert old in before
        assert new not in before
        assert old not in after
        if LIFE.notes[new]["state"] == "active":
            assert new in [row["title"] for row in ask("decisions", query=query)["results"]]


def test_trends_count_what_is_known_of_each_day_and_week(ask):
    end = datetime.fromtimestamp(LIFE.end / 1000, UTC)
    days = [(end - timedelta(days=at)).strftime("%Y-%m-%d") for at in range(LIFE.days, -1, -1)]
    counts = Counter(
        datetime.fromtimestamp(note["at"] / 1000, UTC).strftime("%Y-%m-%d") for note in LIFE.notes.values()
    )
    told = ask("get_temporal_trends", days=LIFE.days + 1)
    assert told["distribution"] == {day: counts[day] for day in days}
    assert told["type_distribution"] == dict(Counter(note["obs_type"] for note in LIFE.notes.values()))
    weeks = ask("get_temporal_trends", days=LIFE.days + 1, group_by="week")["distribution"]
    assert sum(weeks.values()) == told["summary"]["total_observations"] == len(LIFE.notes)


def test_the_counts_of_memory_are_what_was_told(ask):
    told = ask("get_memory_stats")
    states = Counter(note["state"] for note in LIFE.notes.values())
    assert told["observations"]["by_state"] == dict(states)
    assert told["relations"]["by_type"]["supersedes"] == len(LIFE.replaced)
    assert ask("check_system_health")["subsystems"]["indexes"]["metrics"]["lag"] == {
        "words": 0,
        "vectors": 0,
        "edges": 0,
    }


def test_no_answer_holds_a_secret_and_no_other_project(ask):
    exported, cursor = "", ""
    while cursor is not None:
        page = ask("export_observations", format="jsonl", cursor=cursor)
        exported += page["data"]
        cursor = page.get("next_cursor")
    assert len(exported.splitlines()) == 1 + len(known())
    assert any(SECRET in one["note"].get("body", "") for one in LIFE.told)
    assert SECRET not in exported
    assert (
        SECRET
        not in orjson.dumps(ask("search", query=f"the key {SECRET}", format="full")["results"]).decode()
    )
    bank = [one["note"]["title"] for one in LIFE.told if one["project"] == "bank"]
    assert set(pages(ask, "search", project="bank")) == set(bank)


def test_a_relation_is_told_from_both_ends(ask, lived):
    old, (new, _) = next(iter(LIFE.replaced.items()))
    told = ask("get_observation_relationships", id=str(lived[1][old]), max_depth=1)["relations"]
    assert {"supersedes"} == {one["type"] for one in told}
    assert (lived[1][new], lived[1][old]) in {(one["source_id"], one["target_id"]) for one in told}
