"""What a front keeps of the names that explorations meet."""

import itertools
import sys

from cortex.ask.flow import NAMES_KEPT, words_of

#: bytes that a name's words may take beside the name itself
BYTES_MAX = 160
VERBS = ("open", "close", "read", "write", "lock", "send", "take", "find")
NOUNS = ("socket", "file", "mirror", "window", "reader", "ledger", "worker", "folder")


def test_the_words_of_many_names_are_kept_once_and_take_less_than_two_lines_of_text_each():
    names = [
        f"{verb}_{noun}_{other}({third}: str)"
        for verb, noun, other, third in itertools.product(VERBS, NOUNS, NOUNS, NOUNS)
    ]
    kept = {name: words_of(name) for name in names}
    words = {id(word): word for words in kept.values() for word in words}
    assert len(words) == len(set(words.values()))
    sizes = sum(map(sys.getsizeof, (*kept.values(), *words.values())))
    assert sizes < BYTES_MAX * len(names), sizes / len(names)
    assert words_of.cache_info().currsize <= NAMES_KEPT
    assert set(words_of(names[0])) >= {"open", "socket"}
