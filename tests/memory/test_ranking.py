"""Context of a note in its session: the share of a query's words in its window."""

import pytest

from cortex.memory.find import ranking
from cortex.memory.find.words import BIT_WORDS, Words
from cortex.memory.library import Library
from cortex.memory.note import AGENTS, Note, Source
from cortex.memory.store.records import Point
from cortex.memory.text import gist, question_words
from tests.memory.small_memory import open_small

TURNS = ("Ada: the harbour was foggy", "Ben: we lit the lantern", "Ada: and heard a violin")
QUERY = "harbour lantern violin"
WINDOW_WEIGHT = ranking.WEIGHTS["window"]


@pytest.fixture
def memory(data):
    with Library.open(data) as memory:
        memory.import_records(
            [{"note": {"title": turn, "source": {"session": "walk"}}} for turn in TURNS]
            + [{"note": {"title": "Ben: the violin needs strings", "source": {"session": "shop"}}}]
        )
        yield memory


def windows(memory, **more):
    """{title: part of the score from the window}."""
    rows = memory.recall(QUERY, alpha=1.0, explain=True, **more)
    return {row["title"]: row["explain"]["window"] for row in rows}


@pytest.mark.parametrize("where", ["tail", "disk", "made anew"])
def test_words_spread_over_neighbouring_turns_count_for_each_of_them(memory, where):
    if where == "disk":
        memory.settle()
    elif where == "made anew":
        for index in ("words", "vectors", "edges"):
            list(memory.memory.rebuild(index))
    scores = windows(memory)
    assert [scores[turn] for turn in TURNS] == [pytest.approx(WINDOW_WEIGHT, abs=1e-4)] * 3
    assert 0 < scores["Ben: the violin needs strings"] < WINDOW_WEIGHT / 2


@pytest.mark.parametrize("settled", [False, True])
def test_a_neighbours_words_count_as_they_read_at_the_moment_of_the_query(memory, settled):
    before = memory.memory.now()
    number = next(row["number"] for row in memory.recall("lantern") if row["title"] == TURNS[1])
    if settled:
        memory.settle()
    while memory.memory.now() == before:
        pass
    memory.edit(number, title="Ben: we sat in the dark")
    assert windows(memory)[TURNS[0]] < WINDOW_WEIGHT * 0.9
    memory.edit(number, title=TURNS[1])
    assert windows(memory)[TURNS[0]] == pytest.approx(WINDOW_WEIGHT, abs=1e-4)
    memory.forget(number)
    assert windows(memory)[TURNS[0]] < WINDOW_WEIGHT * 0.9
    assert windows(memory, as_of=before)[TURNS[0]] == pytest.approx(WINDOW_WEIGHT, abs=1e-4)


def test_word_bits_are_the_same_in_the_tail_and_in_tantivy(data):
    notes = [
        Note(title=title, number=at + 1)
        for at, title in enumerate(("red green", "green blue", "getHTTPResponse", "nothing of it"))
    ]
    query_words = ["green", "red", "blue", "gethttprespons", "unknown"]
    words = Words(data / "words")
    words.take(Point(1), notes)
    assert words._tail
    tail = words.word_bits(query_words)
    words.commit()
    disk = words.word_bits(query_words)
    assert dict(zip(tail.numbers, tail.bits, strict=True)) == dict(zip(disk.numbers, disk.bits, strict=True))
    assert {*tail.numbers.tolist()} >= {1, 2}
    assert tail.worth.tolist() == pytest.approx(disk.worth.tolist())


def test_only_the_rarest_words_of_a_long_question_get_bits(data):
    words = Words(data / "words")
    words.take(
        Point(1), [Note(title=" ".join(f"common{at}" for at in range(40)), number=at) for at in range(1, 9)]
    )
    words.take(Point(2), [Note(title="rare", number=9)])
    words.commit()
    word_bits = words.word_bits([f"common{at}" for at in range(40)] + ["rare"])
    assert len(word_bits.worth) == BIT_WORDS
    assert (
        dict(zip(word_bits.numbers.tolist(), word_bits.bits.tolist(), strict=True))[9] == 1 << BIT_WORDS - 1
    )


@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_of_many_notes_those_with_the_rarest_words_get_all_their_bits(data, most):
    texts = ("common", "common seldom", "common rare", "common seldom rare", "seldom", "rare", "none")
    words = Words(data / "words")
    words.take(Point(1), [Note(title=texts[at % 7], number=at + 1) for at in range(35)])
    words.commit()
    word_bits = words.word_bits(["common", "seldom", "rare"], most=most)
    worth = dict(zip(("common", "seldom", "rare"), (1, 2, 4), strict=True))
    everything = {
        number + 1: sum(bit for word, bit in worth.items() if word in texts[number % 7].split())
        for number in range(35)
    }
    wanted = sorted(filter(None, everything.values()), reverse=True)[:most]
    assert sorted(word_bits.bits.tolist(), reverse=True) == wanted
    assert [everything[number] for number in word_bits.numbers.tolist()] == word_bits.bits.tolist()


def test_the_first_note_of_a_longer_session_ranks_higher(memory):
    rows = memory.recall(QUERY, alpha=1.0, explain=True)
    opens = {row["title"]: row["explain"]["opens"] for row in rows}
    alone = "Ben: the violin needs strings"
    assert opens == {TURNS[0]: ranking.WEIGHTS["opens"], TURNS[1]: 0, TURNS[2]: 0, alone: 0}


@pytest.mark.parametrize("form", ["imported", "event", "fact"])
def test_only_turns_of_a_recorded_conversation_are_read_with_their_neighbours(data, form):
    """An agent's note is of a session, too, but stands alone under any title."""
    session = "one client"
    with Library.open(data) as memory:
        if form == "imported":
            memory.import_records(
                [{"note": {"title": turn, "source": {"session": session}}} for turn in TURNS]
            )
        else:
            agent = memory.of(source=Source("claude", session, AGENTS))
            for title in TURNS:
                agent.store(title, kind=form)
        rows = memory.recall("harbour", alpha=1.0, explain=True)
    names = [row["title"] for row in rows if row["explain"]["window"]]
    assert names == ([TURNS[0]] if form == "fact" else list(TURNS))


@pytest.mark.parametrize("form", ["{}", "Ops: {}"])
def test_what_agents_note_in_a_session_ranks_as_what_they_note_in_several(tmp_path, form):
    titles = (
        "The queue runs on NATS",
        "The cache runs on Redis",
        "Mails are sent by Postmark",
        "Logs stay 9 days",
    )
    answers = []
    for name, sessions in {"one": "aaaa", "several": "abcd"}.items():
        with open_small(tmp_path / name) as memory:
            for title, session in zip(titles, sessions, strict=True):
                memory.of(source=Source("claude", session, AGENTS)).store(form.format(title))
            rows = memory.recall("What does the queue run on?", explain=True)
            answers.append([(row["title"], row["score"]) for row in rows])
    assert answers[0] == answers[1]


@pytest.mark.parametrize(("detection", "leads"), [("file_overlap", True), ("temporal_proximity", False)])
def test_order_in_a_session_counts_as_a_window_and_not_as_an_edge(memory, detection, leads):
    start, far = memory.recall("lantern")[0]["id"], memory.store("Imports take most of a cold start")["id"]
    edge = {"source": start, "target": far, "relation": "parallel_context", "detection": detection}
    memory.import_records([{"edge": edge}], trusted=True)
    assert (far in [row["id"] for row in memory.recall("lantern", alpha=0.3)]) is leads


def test_a_deleted_note_leads_to_no_others(memory):
    start = memory.recall("lantern")[0]["id"]
    between, far = (memory.store(title)["id"] for title in ("Rollouts are slow", "Imports take long"))
    memory.relate(start, between)
    memory.relate(between, far)
    assert far in [row["id"] for row in memory.recall("lantern", alpha=0.3, kind="fact")]
    memory.edit(between, kind="decision")
    assert far in [row["id"] for row in memory.recall("lantern", alpha=0.3)]
    memory.forget(between)
    assert far not in [row["id"] for row in memory.recall("lantern", alpha=0.3)]


def test_an_ended_edge_leads_to_no_notes(memory):
    start, far = memory.recall("lantern")[0]["id"], memory.store("Imports take most of a cold start")["id"]
    edge = {"source": start, "target": far, "relation": "leads_to"}
    memory.import_records([{"edge": edge | {"valid_until": 1}}], trusted=True)
    assert far in {node["id"] for node in memory.traverse(start)["nodes"]}
    assert far not in [row["id"] for row in memory.recall("lantern", alpha=0.3)]
    later = memory.memory.now() + 1_000_000
    memory.import_records([{"edge": edge | {"relation": "causes", "valid_until": later}}], trusted=True)
    assert far in [row["id"] for row in memory.recall("lantern", alpha=0.3)]


def test_pronouns_and_remains_of_contractions_are_no_query_words():
    assert question_words("What are Ada's plans for her garden, and she'd do it herself?") == [
        "ada",
        "plan",
        "garden",
    ]
    assert question_words("Is it hers?") == ["is", "it", "her"]


def test_the_gist_of_a_question_lacks_the_named_people():
    assert gist("What are Ada's latest plans?", {"ada": 1}) == "latest plans"
    assert gist("Who is Ada?", {"ada": 1}) == "Who is Ada"
