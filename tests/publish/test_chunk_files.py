"""Chunk files: every form is read, every fault is one sentence, and a reading finds exactly the
changes.
"""

import base64
import json
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cortex.front.cli.status import join_size_faults
from cortex.generation.contract import Folder, pack
from cortex.publish import chunk_file_reader, chunk_files
from cortex.publish.chunk_file_reader import read_chunk_file
from cortex.publish.chunk_files import ChunkManager
from cortex.system.errors import Damaged
from tests.drawn_examples import scaled

DIMENSIONS = 4


def chunk(chunk_id, text="text", updated="2026-01-01T00:00:00Z", **fields):
    return {
        "id": chunk_id,
        "chunk_type": "code",
        "title": chunk_id,
        "text": text,
        "tags": ["code"],
        "metadata": {"file_path": f"{chunk_id}.py", "start_line": 1, "end_line": 2},
        "created_at": updated,
        "updated_at": updated,
    } | fields


def write(folder, name, chunks, **metadata):
    temporary = folder / ".tmp.part"
    temporary.write_text(json.dumps({"_metadata": metadata, "chunks": chunks} if metadata else chunks))
    temporary.replace(folder / name)


def test_a_packed_file_is_read_and_a_damaged_file_is_reported_in_one_sentence(tmp_path, monkeypatch):
    raw = json.dumps([chunk("a"), chunk("b")]).encode()
    packed = tmp_path / "a.json.zst"
    packed.write_bytes(pack(packed.name, raw))
    assert [*read_chunk_file(packed, DIMENSIONS).chunks] == ["a", "b"]
    packed.write_bytes(packed.read_bytes()[:-7])
    with pytest.raises(Damaged, match=r"^a\.json\.zst: not one whole zstd frame \(.*\)\.$"):
        read_chunk_file(packed, DIMENSIONS)
    packed.write_bytes(pack(packed.name, raw))
    monkeypatch.setattr(chunk_file_reader, "FILE_BYTES_MAX", len(raw) - 1)
    with pytest.raises(Damaged, match="a zstd frame of"):
        read_chunk_file(packed, DIMENSIONS)


class ServedState:
    """The chunks that a watcher would serve: applies each change and assigns keys."""

    def __init__(self, folder):
        self.manager = ChunkManager((Folder(folder, folder),), DIMENSIONS)
        self.rows = {}
        self.next_key = 1

    def refresh(self):
        change = self.manager.read()
        if change is None:
            return None
        keys = range(self.next_key, self.next_key + len(change.added))
        self.next_key = keys.stop
        for chunk_id, key in change.deleted:
            assert self.rows.pop(key)["id"] == chunk_id
        self.rows |= {key: added.body for key, added in zip(keys, change.added, strict=True)}
        self.manager.accept(change, keys)
        return change

    def texts(self):
        return {body["id"]: body["text"] for body in self.rows.values()}


@pytest.mark.parametrize(
    "embedding",
    [
        [3.0, 4.0, 0.0, 0.0],
        base64.b64encode(np.array([3, 4, 0, 0], "<f2").tobytes()).decode(),
        base64.b64encode(np.array([3, 4, 0, 0], "<f4").tobytes()).decode(),
    ],
)
def test_every_form_of_embedding_becomes_a_unit_vector(tmp_path, embedding):
    write(tmp_path, "a.json", [chunk("a", embedding=embedding)], dimensions=DIMENSIONS, model="m@1")
    (read_chunk,) = read_chunk_file(tmp_path / "a.json", DIMENSIONS).chunks.values()
    assert read_chunk.vector == pytest.approx([0.6, 0.8, 0, 0])
    assert read_chunk.model == "m@1"
    assert "embedding" not in read_chunk.body


def test_a_bare_array_and_unknown_fields_are_accepted(tmp_path):
    write(tmp_path, "a.json", [chunk("a", colour="blue"), chunk("b", embedding=None)])
    chunks = read_chunk_file(tmp_path / "a.json", DIMENSIONS).chunks
    assert chunks["a"].body["colour"] == "blue"
    assert chunks["b"].vector is None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "a.json: not valid JSON"),
        (b'[{"id": "x"', "a.json: not valid JSON"),
        (b"3", "a.json: must be an array of chunks"),
        (b'{"chunks": 3}', "a.json: must be an array"),
        (b"[3]", "a.json: chunk 0 is a int"),
        (b'[{"id": "x", "chunk_type": "code"}]', "a.json: chunk 'x' has no field 'text'"),
        (b'[{"chunk_type": "code", "text": ""}]', "a.json: chunk 0 has no field 'id'"),
        (b'[{"id": "x", "chunk_type": "code", "text": "", "tags": "go"}]', "'tags' must be an array"),
        (b'[{"id": "x", "chunk_type": "code", "text": "", "metadata": []}]', "'metadata' must be an object"),
        (
            b'[{"id": "x", "chunk_type": "code", "text": "", "embedding": [1, 2]}]',
            "has 2 dimensions, the embedder has 4",
        ),
        (
            b'[{"id": "x", "chunk_type": "code", "text": "", "embedding": "AAAA"}]',
            "has 3 bytes, 4 dimensions",
        ),
        (b'[{"id": "x", "chunk_type": "code", "text": "", "embedding": "?"}]', "not base64"),
        (
            b'[{"id": "x", "chunk_type": "code", "text": "", "embedding": [1, 2, 3, 1e999]}]',
            "not (valid JSON|finite)",
        ),
        (b"[" * 100_000, "a.json: not valid JSON"),
        (b'[{"id": "x", "text": ' + b"[" * 3000 + b"]" * 3000 + b"}]", "not valid JSON"),
        (b'[{"id": "x", "chunk_type": "code", "text": "\xff"}]', "not valid JSON"),
        (b'[{"id": "x", "chunk_type": "code", "text": "\\ud800"}]', "not valid JSON"),
        (b'{"_metadata": {"model": "\\ud800"}, "chunks": []}', "not valid JSON"),
        (b'{"_metadata": {"dimensions": 768}, "chunks": []}', "768 dimensions, the embedder has 4"),
    ],
)
def test_a_fault_names_file_chunk_and_field(tmp_path, content, sentence):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(Damaged, match=sentence) as caught:
        read_chunk_file(tmp_path / "a.json", DIMENSIONS)
    assert "\n" not in str(caught.value)


def test_the_status_counts_chunk_files_with_vectors_of_one_wrong_size_in_one_line(tmp_path):
    served = ServedState(tmp_path)
    for number in range(5):
        (tmp_path / f"all{number}.json").write_text('{"_metadata": {"dimensions": 768}, "chunks": []}')
        write(tmp_path, f"one{number}.json", [chunk(f"{number}: x", embedding=[1, 2])])
    (tmp_path / "other.json").write_text("3")
    served.refresh()
    warnings = served.manager.warnings()
    assert len(warnings) == 11
    lines = sorted(join_size_faults((*warnings, "Another: its end.", *warnings[3:])))
    assert len(lines) == 4
    assert re.fullmatch(r"all\d\.json and 4 more: its vectors have 768 dimensions, .* has 4\.", lines[1])
    assert re.fullmatch(r"one\d\.json and 4 more: its embedding has 2 dimensions, .* has 4\.", lines[2])
    assert join_size_faults(warnings[:1]) == [warnings[0]]


def test_a_damaged_chunk_file_keeps_its_old_chunks_and_others_are_updated(tmp_path):
    served = ServedState(tmp_path)
    write(tmp_path, "a.json", [chunk("a")])
    write(tmp_path, "b.json", [chunk("b")])
    served.refresh()
    (tmp_path / "a.json").write_text('[{"id": "a", "text"')
    write(tmp_path, "b.json", [chunk("b", "new")])
    change = served.refresh()
    assert served.texts() == {"a": "text", "b": "new"}
    assert any("a.json" in warning for warning in change.warnings)
    assert served.refresh() is None
    write(tmp_path, "a.json", [chunk("a", "mended")])
    served.refresh()
    assert served.texts() == {"a": "mended", "b": "new"}
    assert served.manager.warnings() == ()


def test_an_unchanged_chunk_is_not_written_again(tmp_path):
    served = ServedState(tmp_path)
    write(tmp_path, "a.json", [chunk("a"), chunk("b"), chunk("c")], model="m", sequence=1)
    served.refresh()
    write(tmp_path, "a.json", [chunk("a"), chunk("b", "new"), chunk("d")], model="m", sequence=2)
    change = served.refresh()
    assert sorted(added.id for added in change.added) == ["b", "d"]
    assert sorted(chunk_id for chunk_id, _ in change.deleted) == ["b", "c"]
    assert change.sequence == 2


def test_an_unchanged_chunk_is_not_read_again(tmp_path, monkeypatch):
    served = ServedState(tmp_path)
    write(tmp_path, "a.json", [chunk(f"c{at}") for at in range(50)], model="m")
    served.refresh()
    read = []
    check = chunk_file_reader._check_chunk
    monkeypatch.setattr(
        chunk_file_reader, "_check_chunk", lambda *a, **k: read.append(check(*a, **k)) or read[-1]
    )
    write(tmp_path, "a.json", [chunk(f"c{at}", "new" if at == 7 else "text") for at in range(50)], model="m")
    served.refresh()
    assert [filed.id for filed in read] == ["c7"]
    write(tmp_path, "a.json", [chunk(f"c{at}", "new" if at == 7 else "text") for at in range(50)], model="n")
    assert len(served.refresh().added) == 50  # for another model every chunk counts as changed


def test_of_two_chunks_in_one_file_with_one_id_the_newest_is_used_and_both_are_named(tmp_path):
    served = ServedState(tmp_path)
    old, new = chunk("x", "old", "2026-01-01T00:00:00Z"), chunk("x", "new", "2026-02-01T00:00:00Z")
    write(tmp_path, "a.json", [old])
    served.refresh()
    for chunks in ([old, new], [new, old], [new, new]):
        write(tmp_path, "a.json", chunks)
        change = served.refresh()
        assert served.texts() == {"x": "new"}
        assert any("'x' appears twice" in warning for warning in change.warnings)


def test_of_two_chunks_with_one_id_the_newest_wins_and_the_other_comes_back(tmp_path):
    served = ServedState(tmp_path)
    write(tmp_path, "a.json", [chunk("x", "old", "2026-01-01T00:00:00Z")])
    write(tmp_path, "b.json", [chunk("x", "new", "2026-02-01T00:00:00Z")])
    change = served.refresh()
    assert served.texts() == {"x": "new"}
    assert any("a.json" in w and "b.json" in w for w in change.warnings)
    assert "a.json" not in served.manager.readable_files()
    (tmp_path / "b.json").unlink()
    served.refresh()
    assert served.texts() == {"x": "old"}


def test_a_large_backlog_comes_in_parts(tmp_path):
    served = ServedState(tmp_path)
    for at in range(6):
        write(tmp_path, f"{at}.json", [chunk(f"c{at}", "x" * 1000)])
    change = served.manager.read(batch_bytes=2500)
    assert 0 < len(change.added) < 6
    assert change.backlog == 6 - len(change.added)


def test_where_much_is_served_parts_are_larger(tmp_path):
    served = ServedState(tmp_path)
    write(tmp_path, "a.json", [chunk(f"a{at}", "x" * 1000) for at in range(60)])
    served.refresh()
    for at in range(6):
        write(tmp_path, f"{at}.json", [chunk(f"c{at}", "x" * 1000)])
    change = served.manager.read(batch_bytes=1)
    assert 2 < len(change.added) < 6
    assert change.backlog == 6 - len(change.added)


def test_while_a_long_run_goes_on_a_change_waits_until_it_is_as_much_as_what_is_served(tmp_path):
    manager = ChunkManager((Folder(tmp_path, tmp_path),), DIMENSIONS, wait_s=600)
    write(tmp_path, "a.json", [chunk(f"a{at}", "x" * 1000) for at in range(4)])
    first = manager.read(to_come=0.99)
    assert first is not None  # nothing is served: there is nothing to wait for
    manager.accept(first, range(1, 5))
    write(tmp_path, "b.json", [chunk("b", "x")])
    assert manager.read(to_come=0.99) is None
    assert manager.waits
    assert len(manager.read().added) == 1  # the run has ended
    assert not manager.waits
    write(tmp_path, "c.json", [chunk(f"c{at}", "x" * 1000) for at in range(5)])
    assert len(manager.read(to_come=0.99).added) == 6


def test_towards_the_end_of_a_long_run_a_change_waits_for_no_more_than_what_is_still_to_come(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(chunk_files, "LEAST_BYTES", 500)
    manager = ChunkManager((Folder(tmp_path, tmp_path),), DIMENSIONS, wait_s=600)
    write(tmp_path, "a.json", [chunk(f"a{at}", "x" * 1000) for at in range(20)])
    manager.accept(manager.read(to_come=0.9), range(1, 21))
    write(tmp_path, "b.json", [chunk(f"b{at}", "x" * 1000) for at in range(5)])
    assert manager.read(to_come=0.5) is None  # half of the files are still to come
    assert len(manager.read(to_come=0.1).added) == 5
    manager.accept(manager.read(to_come=0.1), range(21, 26))
    write(tmp_path, "c.json", [chunk("c", "x")])
    assert manager.read(to_come=0.001) is None  # too little for a generation, and more is to come


def test_a_change_that_is_little_waits_for_a_bounded_time_only(tmp_path):
    manager = ChunkManager((Folder(tmp_path, tmp_path),), DIMENSIONS, wait_s=0)
    write(tmp_path, "a.json", [chunk(f"a{at}", "x" * 1000) for at in range(4)])
    manager.accept(manager.read(), range(1, 5))
    write(tmp_path, "b.json", [chunk("b", "x")])
    assert len(manager.read(to_come=0.99).added) == 1


names = st.sampled_from(["a.json", "b.json", "c.json"])
ids = st.sampled_from(["p", "q", "r", "s"])
contents = st.dictionaries(
    ids, st.tuples(st.sampled_from(["one", "two", "three"]), st.integers(1, 9)), max_size=4
)
steps = st.lists(st.tuples(names, contents | st.none() | st.just("damage")), max_size=12)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=scaled(150), deadline=None
)
@given(steps=steps)
@example(steps=[("a.json", {"p": ("one", 2)}), ("b.json", {"p": ("one", 1)}), ("a.json", {"p": ("two", 1)})])
def test_any_sequence_of_changes_ends_as_a_fresh_reading_does(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("chunks")
    served = ServedState(folder)
    for name, content in steps:
        if content is None:
            (folder / name).unlink(missing_ok=True)
        elif content == "damage":
            if (folder / name).exists():
                served.refresh()
                good = (folder / name).read_bytes()
                (folder / name).write_bytes(good + b"]")
                served.refresh()
                (folder / name).write_bytes(good)
        else:
            write(
                folder,
                name,
                [chunk(i, text, f"2026-01-0{day}T00:00:00Z") for i, (text, day) in content.items()],
            )
        served.refresh()
    fresh = ServedState(folder)
    fresh.refresh()
    assert served.texts() == fresh.texts()
