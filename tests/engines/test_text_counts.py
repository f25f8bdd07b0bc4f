"""Rarity of words: in one index, and over all projects of a search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from cortex.ask.exact import EQUAL_DIGITS
from cortex.ask.multi_project.fan_out import add_counts
from cortex.engines.text.index.writer import TextWriter
from cortex.engines.text.snapshot import open_text
from cortex.generation.read import assemble
from cortex.generation.segments.segment import open_segment
from cortex.generation.write import Row, write_rows
from cortex.system.errors import BadQuery
from ipc.messages import CountWords, ExactSearch, TextSignals
from tests.drawn_examples import scaled
from tests.engines.test_text_search import chunk, open_chunks

#: of one length, so that the mean length of a field is the same for any split
FRUIT = ("apple", "pear", "plum", "quince")
TEXTS = [
    f"{FRUIT[at % 4]} {FRUIT[at % 3]} grows beside {'the' if at % 5 else 'rare'} tree{at:02}"
    for at in range(24)
]
QUESTION = "apple quince rare tree"


def index(folder, numbers):
    return open_chunks(folder, [chunk(f"c{at}", TEXTS[at], path=f"src/f{at:02}.py") for at in numbers])


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    return index(tmp_path_factory.mktemp("whole"), range(24))


@pytest.fixture(scope="module")
def halves(tmp_path_factory):
    return [
        index(tmp_path_factory.mktemp("half"), [at for at in range(24) if (at % 5 == 0) is rare])
        for rare in (True, False)
    ]


def scores(*replies):
    """Path → value of the body lane."""
    return {
        reply.hit(at).path: value
        for reply in replies
        for at, value in enumerate(reply.row("body").tolist())
        if value
    }


def ask_signals(snapshot, question=QUESTION, **more):
    return snapshot.signals(TextSignals(question, 90, **more))


def test_halves_with_joint_word_counts_score_like_the_complete_index(complete, halves):
    counts = add_counts([half.count_words(CountWords(QUESTION)) for half in halves])
    assert counts.chunks == complete.count_words(CountWords(QUESTION)).chunks
    assert counts.holding == complete.count_words(CountWords(QUESTION)).holding
    expected = scores(ask_signals(complete))
    assert scores(*(ask_signals(half, counts=counts) for half in halves)) == pytest.approx(expected, rel=1e-5)
    apart = scores(*(ask_signals(half) for half in halves))
    assert any(abs(apart[path] - value) > 0.1 * value for path, value in expected.items())


def test_counts_of_the_index_itself_change_no_score(complete):
    own_counts = complete.count_words(CountWords(QUESTION))
    assert np.array_equal(ask_signals(complete).values, ask_signals(complete, counts=own_counts).values)


def test_a_word_of_another_project_alone_changes_nothing(complete):
    counts = add_counts([complete.count_words(CountWords("apple kiwi"))])
    counts.holding["lane_body kiwi"] = 7
    assert (
        scores(ask_signals(complete, "apple kiwi", counts=counts)).keys()
        == scores(ask_signals(complete, "apple")).keys()
    )


def test_a_question_without_words_is_refused(complete):
    with pytest.raises(BadQuery):
        complete.count_words(CountWords("  "))


@pytest.fixture(scope="module")
def thinned(tmp_path_factory):
    """Two indexes of the same texts, two thirds of them deleted but unmerged."""
    snapshots = []
    for place in ("one", "two"):
        folder = tmp_path_factory.mktemp(place)
        rows = [
            Row(at, chunk(f"c{at}", TEXTS[at - 1], path=f"src/f{at:02}.py"), "f.json", bytes(16), None, "m")
            for at in range(1, 25)
        ]
        gone = [row.key for row in rows if row.key > 8]
        write_rows(folder / "1.seg", rows, 4)
        opened = assemble(2, "m", 4, (open_segment(folder / "1.seg"),), np.array(gone, "<u8"))
        writer = TextWriter(folder / "text", "")
        writer.build(1, ((row.key, row.chunk) for row in rows), [])
        name = writer.build(2, (), gone)
        writer.close()
        snapshots.append(open_text(folder / "text" / name, opened))
    return snapshots


def test_unmerged_deleted_chunks_do_not_change_joint_rarity(thinned):
    counts = add_counts([snapshot.count_words(CountWords(QUESTION)) for snapshot in thinned])
    assert counts.chunks == 48  # tantivy's count, deleted chunks included, as for each word
    for snapshot in thinned:
        alone, among = scores(ask_signals(snapshot)), scores(ask_signals(snapshot, counts=counts))
        # a doubled index has words as rare: idf differs only by its two constants 0.5
        assert among == pytest.approx(alone, rel=0.1, abs=0.02)
        assert len(alone) == 8


#: queries of each kind that is scored by rarity, and some others
KEYWORDS = (
    "apple OR quince OR rare",
    "rare",
    '"quince apple" OR "apple grows"',
    "apple^3 OR the OR tree07",
    "plum AND NOT rare",
    "gro* OR rare",
    "aple~1 OR rare",
    "file_path:f07 OR quince",
)


def pages(*replies):
    """Hits of one page and their scores, merged as for several projects."""
    ranked = [
        (-round(score, EQUAL_DIGITS), hit.id)
        for reply in replies
        for hit, score in zip(reply.hits, reply.scores, strict=True)
    ]
    return [name for _, name in sorted(ranked)], [-score for score, _ in sorted(ranked)]


@settings(max_examples=scaled(6), deadline=None)
@given(mine=st.sets(st.integers(0, 23), min_size=4, max_size=20))
def test_chunks_of_a_split_project_rank_in_the_order_of_the_complete_one(complete, tmp_path_factory, mine):
    parts = [
        index(tmp_path_factory.mktemp("part"), [at for at in range(24) if (at in mine) is inside])
        for inside in (True, False)
    ]
    for query in KEYWORDS:
        request = ExactSearch(query, "boolean", limit=24)
        count = CountWords(query, keywords=True, match_type="boolean")
        counts = add_counts([half.count_words(count) for half in parts])
        assert counts.holding == complete.count_words(count).holding
        names, scores = pages(*(half.search(structs.replace(request, counts=counts)) for half in parts))
        expected_names, expected_scores = pages(complete.search(request))
        assert (names, scores) == (expected_names, pytest.approx(expected_scores, abs=2e-6)), query
        assert names


def test_without_joint_counts_each_half_weighs_rare_words_by_itself(complete, halves):
    request = ExactSearch("apple OR rare", "boolean", limit=24)
    assert pages(*(half.search(request) for half in halves))[0] != pages(complete.search(request))[0]
