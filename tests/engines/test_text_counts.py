"""How rare a word is: in one index, and in all that are asked together."""

import numpy as np
import pytest

from cortex.ranking.together import add_counts
from ipc.errors import BadQuery
from ipc.messages import CountWords, TextSignals
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
