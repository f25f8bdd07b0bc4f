"""A file assembled from its chunks: its lines, and the units of an answer."""

import re

import numpy as np
import pytest

from cortex.ask.freshness import Freshness
from cortex.engines.chunks.line_scores import ScoredUnit, _called_names
from cortex.engines.chunks.source import Lines, Source, Unit, letters_of, read_source
from cortex.engines.text.matches.kinds import KINDS, find_kinds
from cortex.engines.text.matches.line_matches import Body, join_texts, marked_lines
from cortex.generation.read import open_rows
from cortex.terms import tokens
from ipc.messages import Hit

TEXT = "Ä first İ line\n\n  def Find(İt):\n    return it_all"


def test_lines_have_numbers_and_lower_case_keeps_places():
    lines = Lines.of(TEXT, 5)
    assert [lines[number] for number in range(4, 10)] == ["", *TEXT.split("\n"), ""]
    assert (lines.first, lines.last) == (5, 8)
    words = "".join(map(chr, lines.letters.tolist()))
    assert len(words) == len(TEXT)
    assert lines.number_at(words.index("it_all")) == 8
    assert "(" not in words
    assert "\n" not in words
    assert [TEXT[begin:end] for begin, end in lines.word_edges.T.tolist()] == tokens.words(TEXT)
    assert lines.is_blank(6, 6)
    assert not lines.is_blank(6, 7)


@pytest.mark.parametrize("name", ["src/auth/session.py", "docs/auth.md"])
def test_a_file_assembled_from_its_chunks_equals_the_indexed_file(sample, name):
    rows = open_rows(Freshness(sample.config).current(), sample.config.index_dir)
    source = read_source(rows, rows.path_names.index(name))
    text = (sample.config.root / name).read_text().split("\n")
    assert [source.lines[at] for at in range(1, source.lines.last + 1)] == text[: source.lines.last]
    assert not any(text[source.lines.last :])
    for unit, other in zip(source.units, source.units[1:], strict=False):
        assert unit.start <= unit.end < other.start


def test_each_line_of_a_file_is_marked_once_with_its_number_and_kind():
    hits = [
        Hit(1, "a", "code", "a.py", 10, 12),
        Hit(2, "v", "symbols", "b.py", 3, 9),
        Hit(3, "c", "code", "a.py", 12, 13),
    ]
    texts = ["def find(x):\n    find(x)\nfind = 1", "nothing here", "find = 1\n# find"]
    body = Body(join_texts(texts), hits, [0.9, 0.5, 0.4], np.arange(3))
    places = [at for at in range(len(body.text)) if body.text.startswith("find", at)]
    marked = marked_lines(body, [np.array([(at, at + 4) for at in places])])
    assert marked.chunks.tolist() == [0, 0, 0, 1, 2]
    assert marked.numbers.tolist() == [10, 11, 12, 0, 13]  # a view's line is not in the file
    raw_chunks = [
        b'{"metadata":{"definitions":[{"name":"find","start_line":5,"end_line":11}]}}',
        b"{}",
        b"{}",
    ]
    kinds = [KINDS[at] for at in find_kinds(body, marked, raw_chunks).tolist()]
    assert kinds == ["definition", "call", "text", "text", "comment"]


@pytest.mark.parametrize(
    "text", ["naïve – größe_1 ’x’", "中文 a·b\n\u2028c", "🙂 x𝒳_9²", "plain a-b_c", "σοφός ΣΟΦΌΣ"]
)
def test_each_letter_between_words_becomes_one_space_and_others_their_lower_case(text):
    letters = letters_of(text)
    assert [letter == ord(" ") for letter in letters.tolist()] == [not re.match(r"\w", char) for char in text]
    assert letters.tolist() == letters_of(text.lower()).tolist()
    ascii_places = [at for at, char in enumerate(text) if re.match(r"[a-z0-9_]", char)]
    assert [chr(letters[at]) for at in ascii_places] == [text[at] for at in ascii_places]


def test_each_callee_is_listed_once_with_its_full_name():
    unit = Unit(1, 1, 1, "own", "function")
    source = Source.of("a.py", Lines.of("own(save(disk), x.size, 9ab(c), y.2d, plain word)", 1), [unit])
    assert _called_names(ScoredUnit(source, unit)) == {"save", "size", "ab"}
