"""Rows over several segments answer as one table, and merging changes nothing that is live."""

import dataclasses
import hashlib
import random
import tracemalloc
from importlib import resources

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.generation import merge
from cortex.generation.current import Generation, SegmentRef
from cortex.generation.merge import merge_rows
from cortex.generation.read import open_rows
from cortex.generation.segments import packing, postings
from cortex.generation.segments.postings import blocks_of
from cortex.generation.segments.segment import open_segment, write_segment
from cortex.generation.write import Row, write_rows
from cortex.ranking.candidates import split_name
from cortex.ranking.multi_project import join_hit
from cortex.settings.config import INDEX_FORMAT
from cortex.system.errors import BadRequest, Damaged
from ipc.messages import Filters
from tests.drawn_examples import scaled

DIMENSIONS = 8


def row(key, *, path=None, kind="code", tags=("go",), language="go", text="text"):
    vector = np.zeros(DIMENSIONS, np.float32)
    vector[key % DIMENSIONS] = 1
    body = {
        "id": f"chunk-{key}",
        "chunk_type": kind,
        "text": text,
        "tags": list(tags),
        "metadata": {
            "file_path": path or f"src/f{key % 3}.go",
            "language": language,
            "start_line": key,
            "end_line": key + 1,
        },
    }
    digest = hashlib.blake2b(str(key).encode(), digest_size=16).digest()
    return Row(key, body, "code-source.json", digest, None if key % 5 == 0 else vector, "m@1")


def publish(folder, *parts, deleted=()):
    (folder / "segments").mkdir(exist_ok=True)
    refs = []
    for at, rows in enumerate(parts):
        vectors = write_rows(folder / "segments" / f"s{at}", rows, DIMENSIONS)
        refs.append(SegmentRef(f"s{at}", len(rows), vectors))
    if deleted:
        write_segment(folder / "segments" / "deleted", {"keys": np.array(sorted(deleted), "<u8")}, {})
    return Generation(
        1, tuple(refs), "deleted" if deleted else "", len(deleted), model="m@1", dimensions=DIMENSIONS
    )


def test_rows_are_found_by_key_and_deleted_ones_are_not(tmp_path):
    generation = publish(
        tmp_path, [row(k) for k in range(1, 6)], [row(k) for k in range(6, 9)], deleted=(2, 7)
    )
    rows = open_rows(generation, tmp_path)
    ordinals = rows.locate(np.array([1, 2, 6, 7, 8, 99], "<u8"))
    assert [o >= 0 for o in ordinals] == [True, False, True, False, True, False]
    assert rows.hit(int(ordinals[4])).id == "chunk-8"
    assert b'"chunk-8"' in rows.chunk(int(ordinals[4]))
    assert rows.live_count == 6


def test_a_path_that_no_file_can_have_is_cleaned_for_several_projects(tmp_path):
    rows = open_rows(publish(tmp_path, [row(1, path="a\0b.go"), row(2, path="5\0b.go")]), tmp_path)
    hits = [join_hit(3, rows.hit(ordinal)) for ordinal in range(2)]
    assert [split_name(hit.path) for hit in hits] == [("3", "ab.go"), ("3", "5b.go")]


def test_the_json_of_chunks_lies_packed_and_comes_back_as_it_was(tmp_path):
    written = [row(key, text=f"func F{key}()") for key in range(1, 200)]
    generation = publish(tmp_path, written)
    rows = open_rows(generation, tmp_path)
    assert [orjson.loads(rows.chunk(at)) for at in range(len(rows))] == [
        source_row.chunk for source_row in written
    ]
    alone = [rows.chunk(at) for at in (7, 3)]
    assert [
        b'%b,"text":' % head[:-1] in chunk_json
        for head, chunk_json in zip(rows.cuts("chunk", np.array([7, 3])), alone, strict=True)
    ] == [True, True]
    plain = sum(len(orjson.dumps({**source_row.chunk, "text": ""})) for source_row in written)
    assert len(rows.segments[0].bytes_of("chunk_bytes")) < 0.4 * plain


def test_texts_lie_packed_and_come_back_as_they_were_alone_and_side_by_side(tmp_path):
    texts = [
        "",
        "\n",
        "größer 中\n\n",
        *(f"func F{n}() error {{\n\treturn nil\n}}\n" * 20 for n in range(60)),
    ]
    written = [row(key, text=text) for key, text in enumerate(texts, 1)]
    rows = open_rows(publish(tmp_path, written), tmp_path)
    raws = [f"{text}\n".encode() for text in texts]
    assert [rows.raw_text(at) for at in range(len(rows))] == raws
    assert rows.cuts("text", np.array([2, 0, 40])) == [raws[2], raws[0], raws[40]]
    arrays = rows.segments[0].arrays
    data, offsets, sizes = (arrays[f"text_{what}"] for what in ("bytes", "offsets", "sizes"))
    some = np.array([0, 2, 3, 62])
    frames = (data.data, offsets[some], offsets[some + 1], sizes[some])
    assert packing.join(tmp_path, *frames) == b"".join(raws[at] for at in some)
    assert packing.join(tmp_path, data.data, *[column[:0] for column in frames[1:]]) == b""
    with pytest.raises(Damaged, match="No whole zstd frame"):
        packing.join(tmp_path, data.data, offsets[some], offsets[some + 1], sizes[some] - 1)
    assert data.nbytes < 0.4 * sum(map(len, raws))


def test_json_that_changed_under_a_reader_is_damage(tmp_path):
    rows = open_rows(publish(tmp_path, [row(1)]), tmp_path)
    (segment,) = rows.segments
    broken = dataclasses.replace(
        segment, arrays=segment.arrays | {"chunk_bytes": np.zeros_like(segment.arrays["chunk_bytes"])}
    )
    with pytest.raises(Damaged, match="s0: No whole zstd frame"):
        dataclasses.replace(rows, segments=(broken,)).chunk(0)


def test_what_is_packed_by_one_dictionary_belongs_to_one_format():
    raw = resources.files("cortex.generation").joinpath("json.dict").read_bytes()
    assert (INDEX_FORMAT, hashlib.sha256(raw).hexdigest()[:16]) == (12, "b74ea1a349dd823f")


def test_hits_of_many_rows_are_those_of_each(tmp_path):
    rows = open_rows(publish(tmp_path, [row(k) for k in (3, 1, 2)], [row(k) for k in range(6, 9)]), tmp_path)
    ordinals = np.array([5, 0, 3, 1, 0])
    assert rows.hits(ordinals) == tuple(rows.hit(int(at)) for at in ordinals)
    assert rows.hits(ordinals[:0]) == ()


def test_filters_combine_and_a_tag_that_is_a_path_acts_as_one(tmp_path):
    rows = open_rows(
        publish(
            tmp_path,
            [row(1), row(2, kind="symbols"), row(3, tags=("go", "Test"))],
            [
                row(4, path="tests/a_test.go", tags=("go", "test")),
                row(5, language="python", path="b.py", tags=("python",)),
            ],
        ),
        tmp_path,
    )

    def matching_keys(**filters):
        return {int(rows.keys[o]) for o in np.flatnonzero(rows.mask(Filters(**filters)))}

    assert matching_keys() == {1, 2, 3, 4, 5}
    assert matching_keys(chunk_types=("symbols", "definitions")) == {2}
    assert matching_keys(tags=("GO", "test")) == {3, 4}
    assert matching_keys(tags=("go", "nowhere")) == set()
    assert matching_keys(tags=("tests/a_test.go",)) == {4}
    assert matching_keys(tags=("tests/a_test.go", "b.py")) == {4, 5}
    assert matching_keys(paths=("src/**",)) == {1, 2, 3}
    assert matching_keys(paths=("*.go",), exclude_paths=("tests/",)) == {1, 2, 3}
    assert matching_keys(language="Python") == {5}


def test_a_glob_that_cannot_be_read_is_a_bad_request(tmp_path):
    rows = open_rows(publish(tmp_path, [row(1)]), tmp_path)
    with pytest.raises(BadRequest, match="glob"):
        rows.mask(Filters(paths=("!",)))


def test_segments_that_stay_are_not_opened_again(tmp_path):
    generation = publish(tmp_path, [row(1)], [row(2)])
    before = open_rows(generation, tmp_path)
    after = open_rows(generation, tmp_path, reuse=before)
    assert all(a is b for a, b in zip(before.segments, after.segments, strict=True))


def trigrams_of(sections):
    """Return (trigram, row) of all possible queries: trigrams across the end of a text hold a line
    feed.
    """
    (block,) = blocks_of("gram", sections)
    codes, rows = block.pairs()
    grams = [int(code).to_bytes(3, "big") for code in codes]
    return {(gram, row) for gram, row in zip(grams, rows.tolist(), strict=True) if b"\n" not in gram}


def test_a_merge_holds_neither_texts_nor_vectors(tmp_path):
    def some(first: int) -> list[Row]:
        draw = random.Random(first)  # repeated text would take hardly any space
        return [row(key, text="".join(draw.choices("abcd", k=24_000))) for key in range(first, first + 400)]

    rows = open_rows(publish(tmp_path, some(1), some(401)), tmp_path)
    texts = sum(len(segment.bytes_of("text_bytes")) for segment in rows.segments)
    tracemalloc.start()
    try:
        assert merge_rows(tmp_path / "segments" / "merged", rows, [0, 1])[0] == 800
        assert tracemalloc.get_traced_memory()[1] < texts // 3
    finally:
        tracemalloc.stop()
    assert texts > 5_000_000


@settings(max_examples=scaled(40), deadline=None)
@given(st.data())
def test_merging_keeps_every_live_row_as_it_was(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("rows")
    keys = data.draw(st.lists(st.integers(1, 60), unique=True, min_size=2, max_size=25))
    split = data.draw(st.integers(1, len(keys) - 1))
    deleted = data.draw(st.sets(st.sampled_from(keys)))
    parts = [
        [
            row(k, tags=("go", f"t{k % 4}"), text=f"getUser{k} of w{k % 5}é", kind=("code", "symbols")[k % 2])
            for k in sorted(subset)
        ]
        for subset in (keys[:split], keys[split:])
    ]
    before = open_rows(publish(folder, *parts, deleted=deleted), folder)
    with pytest.MonkeyPatch.context() as patch:
        if data.draw(st.booleans()):  # as for large segments: in portions, a few codes at a time
            patch.setattr(merge, "PORTION_ROWS", 2)
            patch.setattr(postings, "PART_BYTES", 16)
        count, vectors = merge_rows(folder / "segments" / "merged", before, [0, 1])
    assert count == len(keys) - len(deleted)
    if not count:
        return
    after = open_rows(Generation(2, (SegmentRef("merged", count, vectors),), dimensions=DIMENSIONS), folder)
    assert list(after.keys) == sorted(set(keys) - deleted)
    for at, key in enumerate(after.keys):
        was = int(before.locate(np.array([key], "<u8"))[0])
        assert after.chunk(at) == before.chunk(was)
        assert after.hit(at) == before.hit(was)
        assert np.array_equal(after.vectors(np.array([at])), before.vectors(np.array([was])))
    expected = sorted(
        (
            source_row
            for segment_rows in parts
            for source_row in segment_rows
            if source_row.key not in deleted
        ),
        key=lambda source_row: source_row.key,
    )
    write_rows(folder / "segments" / "again", expected, DIMENSIONS)
    anew, merged = open_segment(folder / "segments" / "again").arrays, after.segments[0].arrays
    for name in [name for name in anew if name.startswith("word_")]:
        assert np.array_equal(merged[name], anew[name]), name
    assert trigrams_of(merged) == trigrams_of(anew)
    for tag in ("t0", "t3"):
        filters = Filters(tags=(tag,))
        assert set(after.keys[after.mask(filters)]) == set(before.keys[before.mask(filters)])
