"""Expressions over several chunks: split lines, complete files, several segments, sets of rows."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.engines.text.index.writer import TextWriter, open_index
from cortex.engines.text.limits import LIMITS, Limits
from cortex.engines.text.matches import scan as text_scan
from cortex.engines.text.matches.compile import Target, compile_query
from cortex.engines.text.matches.matching import Matching
from cortex.engines.text.matches.overlaps import KeyIndex
from cortex.engines.text.matches.verify import (
    RowTexts,
    all_matches,
    compile_expression,
    cut_batches,
    is_plain,
    scan,
    scan_plain,
)
from cortex.engines.text.snapshot import open_text
from cortex.engines.text.words import Words
from cortex.generation.read import assemble
from cortex.generation.segments.segment import open_segment
from cortex.generation.write import Row, write_rows
from cortex.query.leaf import literal
from cortex.query.tree import Regex, Term
from ipc.messages import ExactSearch
from tests.drawn_examples import scaled


def chunk(id_, text, *, path="a.json", start=1, end=1, kind="code"):
    metadata = {"file_path": path, "language": "json", "start_line": start, "end_line": end}
    return {"id": id_, "chunk_type": kind, "title": id_, "text": text, "tags": [], "metadata": metadata}


def build_parts(folder, *parts, keys=None, deleted=()):
    """The folder of a text index, and its rows: one segment for each of `parts`."""
    segments, rows, writer = [], [], TextWriter(folder / "text", "")
    numbers = iter(keys or range(1, 10_000))
    for at, chunks in enumerate(parts):
        segment_rows = [Row(next(numbers), body, "f.json", bytes(16), None, "m") for body in chunks]
        write_rows(folder / f"{at}.seg", segment_rows, 4)
        segments.append(open_segment(folder / f"{at}.seg"))
        rows += segment_rows
    name = writer.build(1, ((row.key, row.chunk) for row in rows), [])
    if deleted:
        name = writer.build(2, (), deleted)
    writer.close()
    return folder / "text" / name, assemble(1, "m", 4, tuple(segments), np.array(deleted, "<u8"))


def open_parts(folder, *parts, deleted=(), limits=LIMITS):
    return open_text(*build_parts(folder, *parts, deleted=deleted), limits)


def ids(answer):
    return sorted(hit.id for hit in answer.hits)


@pytest.fixture
def pieces(tmp_path):
    """Line 2 of three is too long for one chunk."""
    return open_parts(
        tmp_path,
        [
            chunk("head", "first line", start=1),
            chunk("body-p2", "dle of it all and the ta", start=2, end=2),
            chunk("body-p1", "the long line with the mid", start=2, end=2),
            chunk("body-p3", "il of it", start=2, end=2),
            chunk("foot", "last line", start=3, end=3),
            chunk("other-p1", "the mid", path="b.json", start=2, end=2),
        ],
    )


@pytest.mark.parametrize(
    ("query", "match_type", "expected"),
    [
        ("middle of", "substring", ["body-p1"]),
        ("long.*tail", "regex", ["body-p1"]),
        ("the tail of it$", "regex", ["body-p2"]),
        ("^the long", "regex", ["body-p1"]),
        ("^dle", "regex", []),
        ("mid$", "regex", ["other-p1"]),
        ("of it", "substring", ["body-p2", "body-p3"]),
        (r"(?s)first.*middle.*last", "regex", ["head"]),
        (r"tail of it\nlast", "regex", ["body-p2"]),
    ],
)
def test_a_line_in_pieces_is_searched_as_one(pieces, query, match_type, expected):
    answer = pieces.search(ExactSearch(query, match_type))
    assert ids(answer) == expected
    assert all(answer.highlights)


def test_a_match_over_two_pieces_is_marked_where_it_begins(pieces):
    answer = pieces.search(ExactSearch("middle of", "substring"))
    assert answer.highlights == (("the long line with the <em>mid</em>",),)
    assert answer.highlight_lines == ((2,),)


def test_rows_of_all_segments_are_searched_but_the_deleted_ones(tmp_path):
    parts = [[chunk(f"c{at}", f"common text {at}", path=f"{at}.c")] for at in range(1, 6)]
    snapshot = open_parts(tmp_path, *parts, deleted=(2, 4))
    for query, match_type in (
        ("common t", "substring"),
        ("common", None),
        ("comm*", None),
        ("comon~1", None),
    ):
        answer = snapshot.search(ExactSearch(query, match_type))
        assert (ids(answer), answer.total_found) == (["c1", "c3", "c5"], 3)


def test_a_match_of_a_word_ranks_before_a_match_inside_a_word(tmp_path):
    texts = {"inside": "xfoodx", "begin": "foodie", "word": "a food b"}
    snapshot = open_parts(tmp_path, [chunk(name, text, path=f"{name}.c") for name, text in texts.items()])
    answer = snapshot.search(ExactSearch("food", "substring"))
    assert [hit.id for hit in answer.hits] == ["word", "begin", "inside"]
    assert answer.scores == pytest.approx((0.5, 1 / 3, 0.2))


def test_much_text_is_searched_in_several_batches(tmp_path):
    chunks = [
        chunk(f"c{at:03}", f"line {at} of many\nneedle {at % 7}", path=f"{at}.c", end=2) for at in range(300)
    ]
    snapshot = open_parts(tmp_path, chunks[:100], chunks[100:], limits=Limits(batch_bytes=200))
    answer = snapshot.search(ExactSearch("needle 3$", "regex", limit=100))
    assert ids(answer) == [f"c{at:03}" for at in range(300) if at % 7 == 3]


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=60), st.booleans())
def test_batches_keep_their_size_and_cut_no_line(pieces, joined):
    raws = [b"x" * size + (b"\n" if ends or not joined else b"y") for size, ends in pieces]
    raws[-1] = b"x\n"
    body = RowTexts.of(raws, np.arange(len(raws)))
    if not joined:
        body = replace(body, joined=None)
    batches = cut_batches(body, 100)
    assert [row for first, stop in batches for row in range(first, stop)] == list(range(len(raws)))
    assert all(body.read(*batch).endswith(b"\n") for batch in batches)
    lines = body.read(0, len(raws)).splitlines(keepends=True) if joined else raws
    assert len(batches) <= 1 + sum(map(len, lines)) // 100


LETTERS = "abkKsS_ (\u212a\u017fé\u0130"


@settings(max_examples=scaled(300), deadline=None)
@given(
    st.lists(st.text(LETTERS, max_size=12), min_size=1, max_size=6),
    st.text("abks_ (", min_size=1, max_size=4),
    st.booleans(),
    st.tuples(st.booleans(), st.booleans()),
)
def test_plain_text_is_found_where_the_expression_finds_it(texts, wanted, case, edges):
    pattern = r"\b" * edges[0] + literal(wanted) + r"\b" * edges[1]
    expression = compile_expression(Regex(pattern, case=case))
    assert expression.plain is not None
    raw = [f"{text}\n".encode() for text in texts]
    ends = np.cumsum([len(text) for text in raw])
    body = RowTexts(np.arange(len(raw)), ends, lambda first, stop: b"".join(raw[first:stop]))
    if not is_plain(expression, body):
        return
    batches = cut_batches(body, LIMITS.batch_bytes)
    fast = scan_plain(expression, body, batches, float("inf"))
    slow = scan(expression, body, batches, float("inf"))
    assert fast.places.tolist() == slow.places.tolist()
    assert fast.spans.tolist() == slow.spans.tolist()
    assert fast.scores.tolist() == slow.scores.tolist()


@settings(max_examples=scaled(200), deadline=None)
@given(
    st.lists(st.text("abkKS_1 (éK中\n", max_size=30), min_size=1, max_size=8),
    st.sampled_from(
        ["ab", "a", "k", r"\bab", "a+", r"\w+", "^a|b$", r"[^a]+", "x*", r"\s*b", ".*", "(?i)s.k", "中"]
    ),
    st.booleans(),
    st.integers(1, 5),
)
def test_joined_texts_have_the_matches_of_each_text_alone(texts, pattern, case, most):
    expression = compile_expression(Regex(pattern, case=case))
    assert expression.by_lines
    raws = [f"{text}\n".encode() for text in texts]
    ends = np.cumsum([len(raw) for raw in raws])
    together = all_matches(expression, b"".join(raws), ends, most).tolist()
    alone = []
    for raw, end in zip(raws, ends.tolist(), strict=True):
        spans = [match.span() for match in islice(expression.compiled.finditer(raw[:-1].decode()), most)]
        begin = end - len(raw)
        for first, last in spans:
            if first < last:
                text = raw.decode()
                alone.append([begin + len(text[:first].encode()), begin + len(text[:last].encode())])
    assert together == alone


@pytest.mark.parametrize("pattern", [r"\Aab", r"ab\z", "(?-m)^a", r"a\nb"])
def test_an_expression_beyond_lines_is_marked_in_each_text_alone(pattern):
    assert not compile_expression(Regex(pattern)).by_lines


@settings(max_examples=scaled(150), deadline=None)
@given(
    st.lists(st.text("abkKS_1 (éK中", max_size=14), min_size=1, max_size=8),
    st.text("abks_1", min_size=1, max_size=4),
    st.tuples(st.booleans(), st.booleans()),
)
def test_a_piece_of_a_word_is_found_by_the_words_where_the_expression_finds_it(
    tmp_path_factory, texts, wanted, edges
):
    texts = [*texts, "x" * 240 + wanted]
    snapshot = open_parts(
        tmp_path_factory.mktemp("words"),
        [chunk(f"c{at}", text, path=f"{at}.c") for at, text in enumerate(texts)],
    )
    pattern = r"\b" * edges[0] + wanted + r"\b" * edges[1]
    expression = compile_expression(Regex(pattern))
    assert expression.plain is not None
    assert expression.plain.in_word == bool(wanted.strip("_"))
    answers = []
    for text_bytes in (0, 1_000_000):  # by the texts, and by all words
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(text_scan, "TEXT_BYTES", text_bytes)
            answers.append(snapshot.search(ExactSearch(pattern, "regex", limit=100)))
    assert ids(answers[0]) == sorted(
        f"c{at}" for at, text in enumerate(texts) if expression.compiled.search(text) is not None
    )
    assert answers[0] == answers[1]


def test_a_word_is_found_behind_one_that_it_continues(tmp_path):
    texts = ["tex", "text", "Text of it", "t", "te", "textext"]
    snapshot = open_parts(tmp_path, [chunk(f"c{at}", text, path=f"{at}.c") for at, text in enumerate(texts)])
    for text_bytes in (0, 1_000_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(text_scan, "TEXT_BYTES", text_bytes)
            assert ids(snapshot.search(ExactSearch("text", "substring"))) == ["c1", "c2", "c5"]


def test_a_rare_piece_of_a_word_is_searched_in_candidate_texts(tmp_path, monkeypatch):
    words = [f"{letter}word{at}{letter * 9}" for at in range(100) for letter in "bcdefghijklm"]
    snapshot = open_parts(tmp_path, [chunk("c0", " ".join(words)), chunk("c1", "needles", path="b.c")])
    monkeypatch.setattr(Words, "around", None)
    assert ids(snapshot.search(ExactSearch("needle", "substring"))) == ["c1"]


@pytest.mark.parametrize("pattern", ["a.b", "a+", "[a]", "é", "a|b", r"a\d", "(a)", "^a", r"a\b+", ""])
def test_only_plain_text_bypasses_re2(pattern):
    assert compile_expression(Regex(pattern)).plain is None


@settings(max_examples=scaled(60), deadline=None)
@given(st.sets(st.integers(1, 3000), min_size=1, max_size=60), st.booleans())
def test_a_set_of_rows_is_the_same_through_bits_and_through_hits(tmp_path_factory, keys, sparse):
    keys = sorted(key * (10_000 if sparse else 1) for key in keys)
    chunks = [
        chunk(f"c{key}", "even" if key % 20_000 == 0 or key % 2 == 0 else "odd", path=f"{key}.c")
        for key in keys
    ]
    folder, rows = build_parts(tmp_path_factory.mktemp("set"), chunks, keys=keys)
    index = open_index(folder)
    matching = Matching(index.schema, index.searcher(), rows, Words(rows))
    query = compile_query(Term("text", "even"), Target(index.schema))
    mask = matching.rows_of_query(query)
    best, count = matching.best(query, 1000)
    assert np.flatnonzero(mask).tolist() == sorted(best.ordinals.tolist())
    assert count == mask.sum()


def test_keys_are_found_in_a_table_where_they_are_dense_and_by_search_where_not(tmp_path):
    for keys in ((5, 6, 9), (5, 600, 90_000)):
        rows = [Row(key, chunk(f"c{key}", "x"), "f", bytes(16), None, "m") for key in keys]
        write_rows(tmp_path / f"{keys[-1]}.seg", rows, 4)
        opened = assemble(
            1, "m", 4, (open_segment(tmp_path / f"{keys[-1]}.seg"),), np.array(keys[1:2], "<u8")
        )
        places = KeyIndex(opened)
        assert places.locate(np.array([5, keys[1], keys[2], 7, 1], "<u8")).tolist() == [0, -1, 2, -1, -1]
        assert places.mask(np.array([keys[2], 7], "<u8")).tolist() == [False, False, True]


def test_pages_of_many_equal_scores_are_complete_for_any_first_fetch(tmp_path):
    chunks = [chunk(f"c{at:03}", "alpha beta alphabet", path=f"{at}.c") for at in range(120)]
    chunks += [chunk(f"d{at:03}", "alphabet", path=f"d{at}.c") for at in range(30)]
    snapshot = open_parts(tmp_path, chunks, limits=Limits(fetch=5))
    for query, total in (
        ("alpha", 120),
        ("alpha*", 150),
        ("alpah~1", 120),
        ("alpha beta", 120),
        ("alpha OR alphabet", 150),
    ):
        collected = []
        for offset in range(0, total, 7):
            answer = snapshot.search(ExactSearch(query, limit=7, offset=offset))
            assert answer.total_found == total
            collected += [hit.id for hit in answer.hits]
        assert collected == [body["id"] for body in chunks][:total]


@pytest.mark.parametrize(
    "query",
    ["alpha AND tags:x", "alpha OR tags:x", "alpha NOT tags:x", "-tags:x", "alpha OR +tags:x OR -gamma", "tags:x^2 -> beta",
     "(alpha OR tags:x) AND NOT gamma", '"alpha beta" OR tags:x', '"alpha beta" AND alp* AND gamam~2'],
)  # fmt: skip
def test_a_query_finds_the_same_with_and_without_remembered_sets(tmp_path, query):
    words = ["alpha", "beta", "gamma"]
    chunks = [
        chunk(
            f"c{at}", " ".join(word for bit, word in enumerate(words) if at >> bit & 1) or "-", path=f"{at}.c"
        )
        | {"tags": ["x"] if at & 8 else []}
        for at in range(64)
    ]
    snapshot = open_parts(tmp_path, chunks, limits=Limits(fetch=2))
    cold = snapshot.search(ExactSearch(query, limit=100))
    for leaf in ("tags:x", '"alpha beta"'):
        snapshot.search(ExactSearch(leaf, limit=1))
    warm = snapshot.search(ExactSearch(query, limit=100))
    assert (ids(warm), warm.total_found) == (ids(cold), cold.total_found)
    assert warm.total_found == len(warm.hits)


def test_matches_without_time_for_marks_are_still_returned(tmp_path):
    parts = [chunk(f"c{at}", "one word\nanother word", path=f"{at}.py", end=2) for at in range(3)]
    snapshot = open_parts(tmp_path, parts, limits=Limits(mark_s=0.0))
    answer = snapshot.search(ExactSearch("word"))
    assert (len(answer.hits), answer.truncated) == (3, False)
    assert answer.highlights == ((), (), ())
    lines = snapshot.search(ExactSearch("word", lines=100))
    assert (len(lines.hits), lines.truncated) == (1, True)
    assert open_parts(tmp_path / "unhurried", parts).search(ExactSearch("word", lines=100)).total_found == 6
