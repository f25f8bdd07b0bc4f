"""Messages survive the wire unchanged, and anything else is refused with a sentence."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.system.errors import BadRequest, TooLarge
from ipc.codec import decode, encode, read_envelope
from ipc.messages import (
    Among,
    Answers,
    Apart,
    Bring,
    Brought,
    Chunks,
    CountWords,
    Embed,
    Embedded,
    ExactHits,
    ExactSearch,
    Failure,
    Fetch,
    Filters,
    GetStatus,
    GraphHits,
    GraphSearch,
    Hit,
    Locate,
    Located,
    MapSearch,
    MeaningSearch,
    MemoryAnswer,
    MemoryCall,
    Message,
    NameSearch,
    OutlineSearch,
    PatternSearch,
    Place,
    Reload,
    Several,
    Show,
    Shown,
    Signals,
    SourceLines,
    SourceTexts,
    Spot,
    Status,
    TextSignals,
    UnitHits,
    UnitMap,
    UnitsAt,
    UnitSearch,
    VectorSearch,
    WordCounts,
    signals_of,
)

HIT = Hit(key=2**60, id="code-a.py#f~1", chunk_type="code", path="a.py", start_line=1, end_line=9)
EXAMPLES = [
    Failure("not_ready", "Nothing is indexed yet."),
    GetStatus(),
    Status("text", 1, "0.1", "abc", 7, 1.5, {"rows": 3, "names": ["x"]}),
    Embed(("how does auth work", "naïve 🦊")),
    Embedded("m@1", np.arange(6, dtype="<f4").reshape(2, 3)),
    VectorSearch(np.ones(3, "<f4"), "m@1", 5, Filters(tags=("go",), paths=("src/**",)), 4),
    TextSignals("auth", 400, counts=WordCounts(0, 9, {"lane_body auth": 2})),
    signals_of(3, (HIT,), ("cosine",), np.array([[0.5]], "<f4"), {"cosine_mean": 0.1}),
    ExactSearch('"error handling"', "phrase", 15, 0, Filters(chunk_types=("code",))),
    ExactHits(3, "exact", (HIT,), (0.5,), (("<em>a</em>",),), ((3,),), 1, False, "", (b"{}",)),
    Bring(("api", "web"), 0.5),
    Brought((3, 0), (9, 0), ("", "It is being brought.")),
    Among(("api", "web"), (3, 7), (b"{}",)),
    Apart(("api",), (3,), (b"{}",)),
    CountWords("auth", 3),
    WordCounts(3, 9, {"lane_body auth": 2}),
    Fetch((1, 2), "snippet", 100, "q", 3),
    Chunks(3, True, (b"{}", b"")),
    Show(
        (2, 1),
        (0.5, 0.25),
        "q",
        3,
        (Place("src/a.py", 7),),
        chosen=True,
        max_bytes=100,
        generation=3,
        found=(2,),
        speaking=(1.5,),
    ),
    Shown(3, True, (b"{}",), (1,), {"weak": 2}, ("src/a.py:12",)),
    Locate((Place("src/a.py", 7), Place(id="code-a.py#f~1")), Filters(paths=("src/**",)), 4),
    Located(3, (Spot(0, HIT, 2, False, 4, ("Store.save",)),), "m@1", np.arange(3, dtype="<f4").reshape(1, 3)),
    SourceLines((("src/ä.py", 3, 9), ("b.py", 1, 1)), 4),
    UnitSearch("auth", 5, Filters(within="src"), 3),
    UnitsAt((Place("a.py", 3),), 3),
    UnitHits(3, ("body", "name"), np.array([[0.5], [0.0]], "<f4"), (b'{"path": "a.py"}',)),
    MapSearch("auth", Filters(within="src"), 500, 3),
    UnitMap(3, ({"file": "a.py", "start": 1, "end": 3, "name": "auth"},)),
    SourceTexts(4, ("a = 'ä'\n".encode(), b"")),
    GraphSearch("path", "run", "Store.save", "src/**", ("tests/",), include_context=False, generation=3),
    OutlineSearch("src", 100, 3),
    PatternSearch("f($A)", "python", ("src/**",), ("tests/",), 5, 3),
    NameSearch("src/a", "path", 5, 3),
    GraphHits(3, "a:f", ("a.py",), 1, False, "", ("b:f",), {"affected": 1}, (b"{}",)),
    MemoryCall(
        "store", {"title": "naïve 🦊", "tags": ["a"]}, True, "0190-op", "9f2c", "claude", "s", "mcp", "/ä"
    ),
    MemoryAnswer({"id": "0190", "message": "Stored"}),
    MeaningSearch("naïve 🦊", 5, Filters(tags=("go",)), 4, alone=True),
    Reload(9),
    Several((encode(GetStatus()), encode(OutlineSearch("naïve 🦊")))),
    Answers((encode(Failure("not_found", "It is not there.")), encode(GraphHits(3)))),
]


def same(expected, other):
    if isinstance(expected, np.ndarray):
        return expected.dtype == other.dtype and np.array_equal(expected, other)
    return expected == other


@pytest.mark.parametrize("message", EXAMPLES, ids=lambda m: type(m).__name__)
def test_every_message_comes_back_as_it_went(message):
    frame = encode(message, request=7, deadline=1.25)
    assert read_envelope(frame) == (7, 1.25)
    back = decode(frame)
    assert type(back) is type(message)
    for name in message.__struct_fields__:
        assert same(getattr(message, name), getattr(back, name)), name


def test_queries_are_repeatable_and_no_other_message():
    questions = {
        *(GetStatus, Embed, VectorSearch, MeaningSearch, TextSignals, ExactSearch, Fetch, Locate, Show),
        *(
            Bring,
            Among,
            Apart,
            CountWords,
            SourceLines,
            UnitSearch,
            UnitsAt,
            MapSearch,
            GraphSearch,
            OutlineSearch,
            PatternSearch,
            NameSearch,
            MemoryCall,
            Several,
        ),
    }
    assert {type(m) for m in EXAMPLES if m.repeatable} == questions
    assert not any(b"repeatable" in encode(m) for m in EXAMPLES)


def test_a_write_is_repeatable_only_with_an_operation_id():
    assert not MemoryCall("store").repeatable
    assert MemoryCall("store", operation_id="0190").repeatable
    assert MemoryCall("recall", writes=False).repeatable


def test_the_examples_name_every_message():
    messages = {m for m in Message.by_name.values() if m.__module__.startswith("ipc.")}
    assert {type(m) for m in EXAMPLES} == messages


@given(st.binary(max_size=600))
def test_random_bytes_are_refused_and_nothing_else(frame):
    with pytest.raises(BadRequest):
        decode(frame)


@given(st.integers(0, 1000), st.binary(min_size=1, max_size=8))
def test_a_damaged_message_is_refused_or_still_well_typed(at, junk):
    frame = bytearray(encode(EXAMPLES[7]))
    at %= len(frame)
    frame[at : at + len(junk)] = junk
    try:
        message = decode(bytes(frame))
    except BadRequest:
        return
    assert isinstance(message, Signals)


def test_a_message_that_ends_early_is_refused_wherever_it_ends():
    frame = encode(EXAMPLES[7])
    assert isinstance(decode(frame), Signals)
    for end in range(len(frame)):
        with pytest.raises(BadRequest):
            decode(frame[:end])


def test_arrays_of_a_received_message_are_aligned():
    message = decode(encode(EXAMPLES[7]))
    assert all(getattr(message, name).flags.aligned for name in ("values", "keys", "rows"))


def test_a_wrong_type_is_named_with_its_field():
    frame = encode(EXAMPLES[6]).replace(b"400", b'"x"')
    with pytest.raises(BadRequest, match=r"TextSignals.*limit"):
        decode(frame)


@pytest.mark.parametrize("shape", [b"[-1, 3]", b"[99999]", b"[0,9999999999999999999999]", b'["1"]'])
def test_an_array_of_an_impossible_shape_is_refused(shape):
    body = b'{"fields":{"model":"m","limit":5},"raw":{"vector":["<f4",%b]}}' % shape
    frame = struct.pack(">QdBI", 1, 0.0, 12, len(body)) + b"VectorSearch" + body + bytes(12)
    with pytest.raises(BadRequest, match="VectorSearch"):
        decode(frame)


def test_blobs_that_do_not_fit_their_sizes_are_refused():
    frame = encode(Chunks(1, False, (b"abc", b"", b"de")))
    assert frame.endswith(b"abcde")
    for broken in (frame + b"f", frame[:-1], frame[:-5], frame.replace(b"[3,0,2]", b"[3,-1,3]")):
        with pytest.raises(BadRequest):
            decode(broken)


def test_an_oversized_message_is_refused_before_it_is_sent():
    with pytest.raises(TooLarge, match="over the limit of 1000"):
        encode(Chunks(1, False, (b"x" * 2000,)), max_bytes=1000)
