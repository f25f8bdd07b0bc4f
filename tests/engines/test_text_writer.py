"""Text generations: each opens and answers as built, whatever is written or merged later."""

import itertools
import os
import shutil
import threading

import numpy as np
import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.engines.text.index import schema as text_schema
from cortex.engines.text.index.checksums import META, SUMS
from cortex.engines.text.index.writer import WRITER, TextWriter, open_index
from cortex.engines.text.snapshot import open_text
from cortex.generation.read import assemble
from cortex.generation.segments.segment import open_segment
from cortex.generation.write import Row, write_rows
from cortex.system.errors import Damaged
from cortex.terms import tokens as text_tokens
from ipc.messages import ExactSearch
from tests.drawn_examples import scaled
from tests.wait_until import BOUND_S, until


def chunk(key, text):
    return {
        "id": f"c{key:04d}",
        "chunk_type": "code",
        "text": text,
        "tags": [],
        "metadata": {"file_path": f"f{key}.go", "start_line": 1, "end_line": 1},
    }


class Index:
    """A text index with its rows, as the builder makes them."""

    def __init__(self, folder):
        self.folder = folder
        self.live = {}
        self.writer = TextWriter(folder / "text", "")

    def build(self, number, added=(), deleted=()):
        name = self.writer.build(number, [(key, chunk(key, text)) for key, text in added], deleted)
        self.live = {k: t for k, t in self.live.items() if k not in set(deleted)} | dict(added)
        return name

    def open(self, name, live):
        path = self.folder / f"{name}.seg"
        write_rows(path, [Row(k, chunk(k, t), "f", bytes(16), None, "m") for k, t in sorted(live.items())], 4)
        rows = assemble(int(name), "m", 4, (open_segment(path),), np.zeros(0, "<u8"))
        return open_text(self.folder / "text" / name, rows)


def threads():
    return set(os.listdir("/proc/self/task"))


def keys(snapshot, query):
    return {hit.key for hit in snapshot.search(ExactSearch(query, limit=100)).hits}


@pytest.fixture
def index(tmp_path):
    text_index = Index(tmp_path)
    yield text_index
    text_index.writer.close()


def test_a_generation_holds_what_was_added_and_not_deleted(index):
    index.build(1, [(1, "alpha"), (2, "alpha beta")])
    name = index.build(2, [(3, "alpha gamma")], deleted=[1])
    assert name == "2"
    snapshot = index.open("2", index.live)
    assert keys(snapshot, "alpha") == {2, 3}
    assert keys(snapshot, "beta") == {2}


def test_old_generations_answer_as_before_through_deletes_commits_and_merges(index):
    index.build(1, [(key, "alpha") for key in range(1, 6)])
    before, live = index.open("1", index.live), dict(index.live)
    for number in range(2, 40):  # enough commits for several merges by tantivy
        index.build(number, [(number * 100, "alpha beta")], deleted=[number - 1])
    assert keys(before, "alpha") == {1, 2, 3, 4, 5}
    assert keys(index.open("1", live), "alpha") == {1, 2, 3, 4, 5}
    assert keys(index.open("39", index.live), "alpha") == set(index.live)


def test_a_generation_with_the_largest_row_key(index):
    key = (1 << 63) + 12345
    index.build(1, [(key, "alpha")])
    assert keys(index.open("1", index.live), "alpha") == {key}
    index.build(2, [(5, "beta")], deleted=[key])
    assert keys(index.open("2", index.live), "alpha OR beta") == {5}


def test_unpublished_commits_are_forgotten(index, tmp_path):
    index.build(1, [(1, "alpha")])
    index.build(2, [(2, "alpha")])
    index.writer.close()
    restarted = TextWriter(tmp_path / "text", "1")  # generation 2 was built, but its publishing failed
    restarted.build(3, [(3, chunk(3, "alpha"))], [])
    restarted.close()
    assert keys(index.open("3", {1: "alpha", 3: "alpha"}), "alpha") == {1, 3}


def test_a_writer_that_starts_with_nothing_published_starts_empty(index, tmp_path):
    index.build(1, [(1, "alpha")])
    index.writer.close()
    restarted = TextWriter(tmp_path / "text", "")
    restarted.build(2, [(2, chunk(2, "alpha"))], [])
    restarted.close()
    assert keys(index.open("2", {2: "alpha"}), "alpha") == {2}


def test_an_error_in_the_middle_of_a_build_changes_nothing(index):
    index.build(1, [(1, "alpha")])

    def failing():
        yield 2, chunk(2, "alpha")
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        index.writer.build(2, failing(), [1])
    index.build(3, [(4, "alpha")])
    assert keys(index.open("3", index.live), "alpha") == {1, 4}
    assert not (index.folder / "text" / "2").exists()


def test_a_damaged_or_missing_published_generation_is_refused(index, tmp_path):
    index.build(1, [(1, "alpha")])
    index.writer.close()
    with pytest.raises(Damaged):
        TextWriter(tmp_path / "text", "7")
    term = next(file for file in (tmp_path / "text" / "1").iterdir() if file.suffix == ".idx")
    term.unlink()
    with pytest.raises(Damaged):
        TextWriter(tmp_path / "text", "1")


PARTS = ("idx", "pos", "term", "store", "fast", "fieldnorm")


#: files that tantivy opens in the writer's folder during a commit
OPENED = [".tantivy-meta.lock", *(f"*.{suffix}" for suffix in PARTS)]


@pytest.mark.parametrize("pattern", OPENED)
def test_a_pipe_in_the_writers_folder_blocks_nothing(index, pattern):
    index.build(1, [(1, "alpha"), (2, "alpha beta")])
    [path] = (index.folder / "text" / WRITER).glob(pattern)
    path.unlink()
    os.mkfifo(path)
    built = threading.Thread(target=index.build, args=(2, [(3, "alpha")], [1]), daemon=True)
    built.start()
    built.join(BOUND_S)
    assert not built.is_alive()
    assert keys(index.open("2", index.live), "alpha") == {2, 3}


def test_a_writer_keeps_nothing_mapped_of_what_it_wrote(index, tmp_path):
    index.build(1, [(1, "alpha")])
    index.writer.close()
    index.writer = TextWriter(tmp_path / "text", "1")
    index.build(2, [(2, "beta")], deleted=[1])
    with open("/proc/self/maps") as maps:
        assert not [line for line in maps if str(tmp_path / "text" / WRITER) in line]


@pytest.mark.parametrize("suffix", PARTS)
def test_an_intact_file_of_another_segment_is_damage(index, tmp_path, suffix):
    index.build(1, [(1, "alpha")])
    index.build(2, [(2, "beta gamma delta"), (3, "beta")])
    index.writer.close()
    source, other = sorted((tmp_path / "text" / "2").glob(f"*.{suffix}"))
    copied = other.with_name("made")
    shutil.copyfile(source, copied)
    copied.replace(other)
    with pytest.raises(Damaged, match=f"{other.name} is not the file that was written"):
        TextWriter(tmp_path / "text", "2")


@pytest.mark.parametrize("name", [META, SUMS])
@pytest.mark.parametrize("raw", [b"", b"{}", b'{"segments": []}'])
def test_lists_of_a_generation_that_were_replaced_are_damage(index, tmp_path, name, raw):
    index.build(1, [(1, "alpha")])
    index.writer.close()
    (tmp_path / "text" / "1" / name).unlink()
    (tmp_path / "text" / "1" / name).write_bytes(raw)
    (tmp_path / "text" / "1" / name).chmod(0o600)
    with pytest.raises(Damaged):
        TextWriter(tmp_path / "text", "1")


def test_a_panic_of_tantivy_means_a_damaged_index(index, tmp_path):
    """Footers of the files are right, so only reading them shows the damage."""
    index.build(1, [(1, "alpha beta")])
    index.writer.close()
    folder = tmp_path / "text" / "1"
    causes = set()
    for victim, other in itertools.permutations(PARTS, 2):
        files = {path.suffix[1:]: path for path in folder.iterdir() if path.suffix[1:] in PARTS}
        content = files[victim].read_bytes()
        copied = folder / "made"
        shutil.copyfile(files[other], copied)
        copied.replace(files[victim])
        try:
            open_index(folder).reload()
        except Damaged as error:
            causes.add(type(error.__cause__).__name__)
        copied.write_bytes(content)
        copied.replace(files[victim])
    assert "PanicException" in causes


def test_an_index_with_other_fields_is_refused(tmp_path):
    other = tantivy.SchemaBuilder()
    other.add_text_field("text")
    folder = tmp_path / "text" / "1"
    folder.mkdir(parents=True)
    tantivy.Index(other.build(), path=str(folder))
    with pytest.raises(Damaged):
        open_index(folder)


def test_generations_share_their_files(index):
    index.build(1, [(1, "alpha")])
    index.build(2, [(2, "beta")])
    first, second = index.folder / "text" / "1", index.folder / "text" / "2"
    shared = {file.name for file in first.iterdir() if file.suffix == ".idx"} & {
        f.name for f in second.iterdir()
    }
    assert shared
    assert all(os.path.samefile(first / name, second / name) for name in shared)


def test_without_hard_links_files_are_copied(index, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError("no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    index.build(1, [(1, "alpha")])
    index.build(2, [(2, "alpha")], deleted=[1])
    assert keys(index.open("2", index.live), "alpha") == {2}


def segments_of(folder):
    return (folder / META).read_bytes().count(b"segment_id")


def test_merged_segments_are_served_in_fewer_files(index):
    text = index.folder / "text"
    for number in range(1, 9):  # tantivy merges that many of one size, behind the served generation
        index.build(number, [(number, f"alpha word{number}")])
    until(lambda: segments_of(text / WRITER) < 8)
    assert index.writer.has_merged()
    merged = index.writer.commit(9)
    assert segments_of(text / merged) == segments_of(text / WRITER)
    assert keys(index.open(merged, index.live), "alpha") == set(range(1, 9))
    assert not index.writer.has_merged()
    index.build(11, [(11, "beta")], deleted=[1])
    assert keys(index.open("11", index.live), "alpha") == set(range(2, 9))


def test_a_large_build_and_a_small_one_after_it(index):
    index.build(1, [(key, f"alpha word{key}") for key in range(1, 5001)])
    index.build(2, [(6000, "alpha word6000")], deleted=range(2, 5001))
    assert keys(index.open("2", index.live), "alpha") == {1, 6000}


def test_a_writer_can_be_closed_twice_and_its_folder_removed(index):
    index.build(1, [(1, "alpha")])
    index.writer.close()
    index.writer.close()
    shutil.rmtree(index.folder / "text")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=scaled(100), deadline=None)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(("id", "chunk_type", "title", "text", "tags", "metadata"), VALUES),
            "metadata": st.dictionaries(
                st.sampled_from(
                    [
                        "file_path",
                        "language",
                        "start_line",
                        "end_line",
                        "symbols",
                        "definitions",
                        "comment_text",
                    ]
                ),
                VALUES,
            ),
            "chunk_type": st.sampled_from(["code", "symbols", "documentation", "x"]),
        },
    )
)
def test_whatever_a_foreign_chunk_holds_becomes_a_document(foreign):
    text_schema.make_document(1, foreign)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class Foo(Bar):\n    def bar_baz(self): pass", [("Foo", True), ("bar_baz", False)]),
        ("func (s *Server) Run() {}\ntype Server struct{}", [("Run", False), ("Server", True)]),
        ("pub(crate) fn go() {}\npub trait T {}", [("go", False), ("T", True)]),
        ("export default class X {}\nexport async function y() {}", [("X", True), ("y", False)]),
        ("x = class_of(1)", []),
    ],
)
def test_definitions_are_derived_from_the_text_when_the_metadata_has_none(text, expected):
    assert text_schema.definitions_of({}, text) == expected


def test_comments_are_derived_from_the_text_when_the_metadata_has_none():
    text = (
        '"""Doc."""\n# hash\nx = 1  // slashes\n/* block\nmore */\nurl = "http://example.org"\n#include <a>'
    )
    derived = text_schema.comments_of({}, "code", text)
    assert [word for word in ("Doc", "hash", "slashes", "block", "more") if word in derived] == [
        "Doc", "hash", "slashes", "block", "more",
    ]  # fmt: skip
    assert "example" not in derived
    assert "include" not in derived


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getHTTPResponse2", ["get", "HTTP", "Response", "2"]),
        ("HTTPServer2", ["HTTP", "Server", "2"]),
        ("__init__", ["init"]),
        ("größeÄndern", ["größe", "Ändern"]),
        ("ÜBERMut", ["ÜBER", "Mut"]),
        ("中文x", ["中", "文", "x"]),
        ("sha256sum", ["sha", "256", "sum"]),
    ],
)
def test_words_are_divided_into_parts(word, parts):
    assert [word[a:b] for a, b in text_tokens.parts_of(word)] == parts


WORDS = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase()).build()


@settings(max_examples=scaled(200), deadline=None)
@given(st.text(max_size=80))
def test_terms_of_a_query_are_the_terms_of_the_index(text):
    if text.isascii():  # beyond ASCII, Rust and Python may have different versions of Unicode
        assert text_tokens.whole_words(text) == WORDS.analyze(text_tokens.spaced(text))
        assert text_tokens.part_words(text) == WORDS.analyze(text_tokens.split_text(text_tokens.words(text)))
    assert text_tokens.words("_" + text)  # never empty, never an error
