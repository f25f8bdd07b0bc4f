"""Scores of a file's units for a question: columns compared with a line by line implementation."""

import pytest

from cortex.ask.freshness import Freshness
from cortex.engines.chunks.line_scores import FileScores, Rarity, score_units, weigh_words
from cortex.engines.chunks.source import Lines, Source, Unit, read_source
from cortex.engines.chunks.windows import CALLERS, Evidence, rank_units
from cortex.generation.read import open_rows

QUESTIONS = (
    "how is a token refreshed before it expires",
    "SessionStore.refresh_token and rotate()",
    "colours of pages",
    "naïve Ünits",
)
#: units of a large file
MANY = 400


@pytest.fixture(scope="module")
def rows(sample):
    return open_rows(Freshness(sample.config).current(), sample.config.index_dir)


def make_source(text, symbols):
    """A source with a unit of one line for each of the symbols."""
    units = [Unit(at, at, at, symbol, "function") for at, symbol in enumerate(symbols, 1)]
    return Source.of("a.py", Lines.of(text, 1), units)


@pytest.mark.parametrize("query", QUESTIONS)
def test_a_unit_scores_if_and_only_if_its_lines_or_name_hold_words_of_the_question(rows, query):
    question = weigh_words(Rarity(rows), query)
    sources = [read_source(rows, file) for file in range(len(rows.path_names))]
    sources.append(make_source("naïve unİts\nplain\nÜNITS of refresh_Token", ["one", "rotateToken", "none"]))
    worth = 0
    for source, judged in zip(sources, score_units(question, sources), strict=True):
        for at, unit in enumerate(source.units):
            lines = {number: source.lines[number] for number in range(unit.start, unit.end + 1)}
            expected = {number: terms for number, text in lines.items() if (terms := question.terms(text))}
            assert bool(judged.worth[at]) == bool(expected or question.terms(unit.symbol)), (query, unit)
            assert dict(sorted(judged.unit_at(at).lines().items())) == expected
            worth += judged.worth[at] > 0
    assert worth


def test_only_units_with_words_of_the_question_are_scored_one_by_one(rows):
    symbols = [f"part_{at}" for at in range(MANY)]
    text = "\n".join(f"def {symbol}(): pass" for symbol in symbols)
    source = make_source(text.replace("part_7()", "part_7(): rotate"), symbols)
    evidence = Evidence({"a.py": [(9, 9, 0.0)]})
    compared = rank_units(weigh_words(Rarity(rows), "rotate"), "rotate", {"a.py": source}, evidence, ())
    assert [candidate.scored.unit.symbol for candidate in compared.candidates()] == ["part_7", "part_8"]
    others = [candidate.scored.unit.symbol for candidate in compared.remaining(lambda _path: True)]
    assert len(others) == MANY - 2
    assert not list(compared.remaining(lambda _path: False))


def test_a_unit_in_a_chunk_that_matches_the_question_scores_higher(rows):
    symbols = [f"part_{at}" for at in range(6)]
    source = make_source("\n".join(f"def {symbol}(): rotate" for symbol in symbols), symbols)
    question = weigh_words(Rarity(rows), "rotate")

    def best(**evidence):
        compared = rank_units(question, "rotate", {"a.py": source}, Evidence(**evidence), ())
        return [candidate.scored.unit.symbol for candidate in compared.candidates()][:2]

    assert best() == ["part_0", "part_1"]
    assert best(hits={"a.py": [(5, 5, 0.0), (3, 3, 1.0)]}) == ["part_4", "part_2"]
    speaking = {"a.py": [(3, 3, 0.2), (3, 4, 0.6), (6, 6, 2.0)], "b.py": [(1, 1, 2.5)]}
    assert best(speaking=speaking) == ["part_5", "part_2"]
    assert best(hits={"a.py": [(2, 2, 0.0)]}, speaking=speaking) == ["part_5", "part_1"]
    source = make_source("def part_0(): rotate\ndef part_1(): return 1", symbols[:2])
    assert best(speaking={"a.py": [(1, 2, 2.5)]}) == ["part_0"]


def test_unwanted_units_are_not_created(rows, monkeypatch):
    made_units = []
    unit_at = FileScores.unit_at
    monkeypatch.setattr(FileScores, "unit_at", lambda self, at: made_units.append(at) or unit_at(self, at))
    symbols = [f"part_{at}" for at in range(MANY)]
    source = make_source("\n".join(f"{symbol}: rotate" for symbol in symbols), symbols)
    compared = rank_units(weigh_words(Rarity(rows), "rotate"), "rotate", {"a.py": source}, Evidence(), ())
    assert len(compared.units) == MANY
    assert len(made_units) == CALLERS
    assert not list(compared.candidates(lambda _path, _worth: False))
    assert len(made_units) == CALLERS
