"""The word table of a segment: the same rows as tantivy, and as a comparison with every word."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from cortex.engines.text.index.schema import make_schema
from cortex.engines.text.index.writer import TextWriter, open_index
from cortex.engines.text.matches.compile import Target, compile_query
from cortex.engines.text.matches.matching import Matching
from cortex.engines.text.words import Words, find_table_query
from cortex.generation.read import assemble
from cortex.generation.segments.postings import BLOCK
from cortex.generation.segments.segment import open_segment
from cortex.generation.segments.words import WordTable, make_sections, merge_sections
from cortex.generation.write import Row, write_rows
from cortex.query.parse import parse
from cortex.terms import tokens
from tests.drawn_examples import scaled

WORDS = st.one_of(
    st.from_regex(r"[a-c_]{1,5}([A-C][a-c]{0,3}){0,2}[0-2]?", fullmatch=True),
    st.sampled_from(["getUserById", "get_user_by_id", "__init__", "größe", "Größe2", "中文", "x中y", "a" * 250, "_", "naïve_b"]),
)  # fmt: skip
TEXTS = st.lists(st.lists(WORDS, max_size=8).map(" ".join), max_size=12)


def terms_of(text):
    return {term for word in tokens.words(text) for term in tokens.terms_of(word)}


@settings(max_examples=scaled(150), deadline=None)
@given(TEXTS)
def test_each_term_has_the_rows_that_hold_it(texts):
    table = WordTable(make_sections(texts))
    every = sorted({term for text in texts for term in terms_of(text)})
    assert table.names(np.arange(len(every))) == every
    for term in {term.removeprefix(tokens.DERIVED) for term in every} - {tokens.ODD}:
        rows = set(table.rows(table.codes_of([term])).tolist())
        assert rows == {at for at, text in enumerate(texts) if {term, tokens.DERIVED + term} & terms_of(text)}
    for start in ("a", "ab", "get", "gr", "中", "zz"):
        for mark, codes in zip((tokens.DERIVED, ""), table.codes_from(start), strict=True):
            rows = set(table.rows(codes).tolist())
            assert rows == {
                at
                for at, text in enumerate(texts)
                if any(term.startswith(mark + start) for term in terms_of(text))
            }
    assert table.codes_of(["nothing", "~"]).tolist() == []


@settings(max_examples=scaled(150), deadline=None)
@given(TEXTS, WORDS, st.integers(0, 2))
def test_near_terms_are_those_that_comparing_every_one_gives(texts, word, distance):
    table = WordTable(make_sections(texts))
    word = word.lower()
    codes, edits = table.near(word, distance)
    expected = {
        term: edit
        for text in texts
        for marked in terms_of(text) - {tokens.ODD}
        for term in [marked.removeprefix(tokens.DERIVED)]
        if (edit := OSA.distance(term, word)) <= distance
    }
    assert dict(zip(table.terms(codes), edits.tolist(), strict=True)) == expected


def test_many_rows_go_into_several_blocks():
    texts = ["common" + (" third" if at % 3 == 0 else "") for at in range(2 * BLOCK + 7)]
    texts[BLOCK] += " rare"
    table = WordTable(make_sections(texts))
    assert table.rows(table.codes_of(["common"])).tolist() == list(range(len(texts)))
    assert table.rows(table.codes_of(["third"])).tolist() == list(range(0, len(texts), 3))
    assert table.rows(table.codes_of(["rare", "zero"])).tolist() == [BLOCK]
    both = table.rows(table.codes_of(["rare", "third"]))
    assert set(both.tolist()) == {BLOCK, *range(0, len(texts), 3)}


def test_no_texts_have_a_table_too():
    table = WordTable(make_sections([]))
    assert table.rows(table.codes_of(["a"])).tolist() == []
    assert table.near("a", 2)[0].tolist() == []


def chunk(number, text):
    metadata = {"file_path": f"{number}.c", "language": "c", "start_line": 1, "end_line": 1}
    return {"id": f"c{number}", "chunk_type": "code", "title": "t", "text": text, "tags": [], "metadata": metadata}  # fmt: skip


@pytest.fixture(scope="module")
def matching(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    texts = [
        "getUserById(id) returns the user",
        "get_user_by_id and GET_USER",
        "_private __init__(self)",
        "größe Größe2 naïve_b",
        "中文注释 x中y",
        "HTTPServer2 http_server http server",
        "userid users user_s",
        "a" * 250 + " " + "b" * 240,
        "sync.RWMutex rw_mutex rwmutexes",
    ]
    rows = [Row(at + 1, chunk(at, text), "f.json", bytes(16), None, "m") for at, text in enumerate(texts)]
    write_rows(folder / "0.seg", rows[:5], 4)
    write_rows(folder / "1.seg", rows[5:], 4)
    writer = TextWriter(folder / "text", "")
    writer.build(1, ((row.key, row.chunk) for row in rows), [])
    name = writer.build(2, (), [7])
    writer.close()
    segments = tuple(open_segment(folder / f"{at}.seg") for at in range(2))
    opened = assemble(2, "m", 4, segments, np.array([7], "<u8"))
    index = open_index(folder / "text" / name)
    return Matching(index.schema, index.searcher(), opened, Words(opened))


@pytest.mark.parametrize(
    "query",
    ["user", "users", "USER", "rwmutex", "RWMUTEX", "_private", "private", "__init__", "init", "größe", "中", "x",
     "b" * 240, "server", "userid", "get*", "getus*", "rw*", "_priv*", "_*", "__*", "gr*", "usr~1", "user~1", "user~2", "uesr~1", "rwmutx~1",
     "grösse~2", "initt~1", "getuserbyid~1", "user~0", "nothing", "-user", "user^2", "user AND get*", "user OR (init~1 NOT private)"],
)  # fmt: skip
def test_the_table_finds_what_tantivy_finds(matching, query):
    node = parse(query, "").node
    from_table = matching._words.rows_of(node)
    assert from_table is not None
    from_tantivy = matching.rows_of_query(compile_query(node, Target(make_schema())))
    assert from_table.tolist() == from_tantivy.tolist()


@pytest.mark.parametrize(
    "query",
    [
        "getUser",
        "get_user_by_id",
        '"the user"',
        "g*r",
        "title:t",
        "getUs*",
        "tags:c",
        "naïve_b",
        "中*",
        "a" * 250,
    ],
)
def test_queries_that_the_table_cannot_answer_are_left_to_tantivy(query):
    assert find_table_query(parse(query, "").node) is None


def test_merged_tables_of_many_rows_are_those_made_anew():
    texts = [f"word{at % 7} Common{at % 3}Part" for at in range(2 * BLOCK + 50)]
    half = len(texts) // 2 + 3
    keep_mask = np.arange(len(texts)) % 5 > 0
    rows = np.full(len(texts), -1)
    rows[keep_mask] = np.arange(int(keep_mask.sum()))
    sources = [(make_sections(texts[:half]), rows[:half]), (make_sections(texts[half:]), rows[half:])]
    merged = merge_sections(sources, int(keep_mask.sum()))
    anew = make_sections([text for text, keep in zip(texts, keep_mask, strict=True) if keep])
    assert {name: array.tolist() for name, array in merged.items()} == {
        name: array.tolist() for name, array in anew.items()
    }
