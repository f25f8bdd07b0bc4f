"""How rare a word is: in one index, and in all that are asked together."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.ask.multi_project.exact import EQUAL_DIGITS
from cortex.ask.multi_project.word_counts import add_counts
from cortex.engines.text.snapshot import open_text
from cortex.engines.text.writer import TextWriter
from cortex.generation.read import assemble
from cortex.generation.segment import open_segment
from cortex.generation.write import Row, write_rows
from cortex.system.errors import BadQuery
from ipc.messages import CountWords, ExactSearch, TextSignals
from tests.engines.test_text_search import chunk, open_chunks

#: of one length, so that the mean length of a field is the same however they are split
FRUIT = ("apple", "pear", "plum", "quince")
TEXTS = [
    f"{FRUIT[at % 4]} {FRUIT[at % 3]} grows beside {'the' if at % 5 else 'rare'} tree{at:02}"
    for at in range(24)
]
QUESTION = "apple quince rare tree"


def index(folder, numbers):
    return open_chunks(folder, [chunk(f"c{at}", TEXTS[at], path=f"src/f{at:02}.py") for at in numbers])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
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
        one.hit(at).path: value
        for one in replies
        for at, value in enumerate(one.row("body").tolist())
        if value
    }


def asked(snapshot, question=QUESTION, **more):
    return snapshot.signals(TextSignals(question, 90, **more))


def test_halves_that_know_how_rare_words_are_in_both_score_as_the_whole(whole, halves):
    counts = add_counts([half.count_words(CountWords(QUESTION)) for half in halves])
    assert counts.chunks == whole.count_words(CountWords(QUESTION)).chunks
    assert counts.holding == whole.count_words(CountWords(QUESTION)).holding
    one = scores(asked(whole))
    assert scores(*(asked(half, counts=counts) for half in halves)) == pytest.approx(one, rel=1e-5)
    apart = scores(*(asked(half) for half in halves))
    assert any(abs(apart[path] - value) > 0.1 * value for path, value in one.items())


def test_what_an_index_counts_of_itself_changes_no_bit(whole):
    own = whole.count_words(CountWords(QUESTION))
    assert np.array_equal(asked(whole).values, asked(whole, counts=own).values)


def test_a_word_that_another_project_alone_holds_is_no_harm(whole):
    counts = add_counts([whole.count_words(CountWords("apple kiwi"))])
    counts.holding["lane_body kiwi"] = 7
    assert scores(asked(whole, "apple kiwi", counts=counts)).keys() == scores(asked(whole, "apple")).keys()


def test_a_question_without_words_is_refused(whole):
    with pytest.raises(BadQuery):
        whole.count_words(CountWords("  "))


@pytest.fixture(scope="module")
def thinned(tmp_path_factory):
    """Two indexes of the same texts, of which two thirds were deleted and are not merged away."""
    made = []
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
        made.append(open_text(folder / "text" / name, opened))
    return made


def test_chunks_that_were_deleted_and_are_still_there_make_no_word_rarer_among_several(thinned):
    counts = add_counts([one.count_words(CountWords(QUESTION)) for one in thinned])
    assert counts.chunks == 48  # as tantivy counts them, which counts the same ones for each word
    for one in thinned:
        alone, among = scores(asked(one)), scores(asked(one, counts=counts))
        # twice the same is as rare as once: idf differs by its two halves alone
        assert among == pytest.approx(alone, rel=0.1, abs=0.02)
        assert len(alone) == 8


#: of each kind that is scored by how rare words are, and some that are not
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
    """Hits of one page, and their scores: of all as the answer of several projects has them."""
    found = [
        (-round(score, EQUAL_DIGITS), hit.id)
        for one in replies
        for hit, score in zip(one.hits, one.scores, strict=True)
    ]
    return [name for _, name in sorted(found)], [-score for score, _ in sorted(found)]


@settings(max_examples=6, deadline=None)
@given(mine=st.sets(st.integers(0, 23), min_size=4, max_size=20))
def test_chunks_of_a_project_that_is_split_stand_in_the_order_of_the_one(whole, tmp_path_factory, mine):
    parts = [
        index(tmp_path_factory.mktemp("part"), [at for at in range(24) if (at in mine) is inside])
        for inside in (True, False)
    ]
    for query in KEYWORDS:
        request = ExactSearch(query, "boolean", limit=24)
        count = CountWords(query, keywords=True, match_type="boolean")
        counts = add_counts([part.count_words(count) for part in parts])
        assert counts.holding == whole.count_words(count).holding
        names, scores = pages(*(part.search(replace(request, counts=counts)) for part in parts))
        one, known = pages(whole.search(request))
        assert (names, scores) == (one, pytest.approx(known, abs=2e-6)), query
        assert names


def test_without_counts_of_all_a_rare_word_weighs_in_each_part_what_it_weighs_there(whole, halves):
    request = ExactSearch("apple OR rare", "boolean", limit=24)
    assert pages(*(half.search(request) for half in halves))[0] != pages(whole.search(request))[0]
