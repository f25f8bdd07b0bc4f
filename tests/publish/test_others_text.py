"""Chunks and graph files of other programs: answers show the text of the files in the project."""

import contextlib
import json
import os

import orjson
import pytest

from cortex.ask.freshness import Freshness
from cortex.generation.others import BY_OTHERS, DIFFERS
from cortex.generation.read import open_rows
from cortex.generation.segments.segment import open_segment
from cortex.publish.builder import Builder
from cortex.settings import config as configuration
from tests.consent import trust_files

SOURCE = "import os\ndef check(p):\n    return os.system(p)\n\n\ndef after():\n    pass\n"
CHECK = "def check(p):\n    return os.system(p)"


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "project"
    (root / ".cortex" / "chunks").mkdir(parents=True)
    (root / ".cortex" / "graph").mkdir()
    (root / "src").mkdir()
    (root / "src" / "auth.py").write_text(SOURCE)
    return root


def chunk(name, text, path="src/auth.py", lines=(2, 3), **fields):
    places = {"file_path": path} if path else {}
    places |= dict(zip(("start_line", "end_line"), lines, strict=True)) if lines else {}
    return {"id": name, "chunk_type": "code", "text": text, "title": name, "metadata": places} | fields


def publish(root, *chunks, graph=None):
    """Return (the served chunks by id, the generation)."""
    if chunks:
        (root / ".cortex/chunks/theirs.json").write_text(json.dumps(chunks))
    if graph:
        (root / ".cortex/graph/theirs.json").write_text(json.dumps(graph))
    trust_files(root)
    config = configuration.load(root)
    with contextlib.closing(Builder(config)) as builder:
        while builder.refresh() is not None:
            pass
        rows = open_rows(builder.current, config.index_dir)
    served = [orjson.loads(rows.chunk(at)) for at in rows.live.nonzero()[0].tolist()]
    return {row["id"]: row for row in served}, builder.current


def reservations(root, paths):
    fresh = Freshness(configuration.load(root))
    return fresh.reservations(paths, fresh.current())


@pytest.mark.parametrize(
    "text",
    [
        *(CHECK, f"{CHECK}\n", f"\n{CHECK}\n\n", CHECK.replace("\n", "\r\n")),
        *(CHECK.replace("(p):", "(p):  "), "    " + CHECK.replace("\n", "\n    ")),
    ],
)
def test_the_lines_of_the_file_are_shown_for_a_chunk_with_lines(root, text):
    served, generation = publish(root, chunk("a", text, origin="checked by hand", colour="blue"))
    assert served["a"]["text"] == CHECK
    assert "origin" not in served["a"]
    assert served["a"]["colour"] == "blue"
    assert reservations(root, ["src/auth.py"]) == []
    assert generation.warnings == ()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def check(p):\n    return hmac.compare_digest(p, stored)", (2, 3)),
        (CHECK, (1, 2)),
        (CHECK, (2, 4000)),
        ("def check(p):", (2, 3)),
        (f"{CHECK}\n# reviewed: safe", (2, 3)),
        ("", (2, 3)),
    ],
)
def test_a_chunk_that_differs_from_its_lines_is_named_and_not_quoted(root, text, lines):
    served, _ = publish(root, chunk("a", text, lines=lines, tags=["x"], summary=text, title=f"title {text}"))
    assert served["a"]["origin"] == DIFFERS
    assert DIFFERS in served["a"]["text"]
    shown = json.dumps(served["a"])
    assert "compare_digest" not in shown
    assert "reviewed" not in shown
    assert "start_line" not in served["a"]["metadata"]
    (sentence,) = reservations(root, ["src/auth.py", "other.py"])
    assert "src/auth.py" in sentence
    assert "differs" in sentence


@pytest.mark.parametrize(
    "place",
    [
        {"path": "src/auth.py", "lines": ()},
        {"path": "", "lines": ()},
        {"path": "", "lines": (2, 3)},
        {"path": "src/gone.py", "lines": (2, 3)},
        {"path": "src/auth.py", "lines": ("2", "3")},
        {"path": "src/auth.py", "lines": (0, 3)},
        {"path": "src/auth.py", "lines": (3, 2)},
        {"path": "src/auth.py", "lines": (2**70, 2**71)},
    ],
)
def test_a_chunk_without_lines_or_file_is_marked(root, place):
    served, _ = publish(root, chunk("a", "An overview.", **place))
    assert (served["a"]["text"], served["a"]["origin"]) == ("An overview.", BY_OTHERS)
    (sentence,) = reservations(root, [place["path"]])
    assert sentence == f"{place['path'] or 'An entry of no file'}: text by another program."


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../secret.py", "src/../../secret.py", "out/secret.py", "out.py", "a\0b", "round"]
)
def test_a_chunk_of_a_place_outside_of_the_project_is_refused_and_named(root, path):
    (root.parent / "secret.py").write_text("secret = 1\n")
    (root / "out").symlink_to(root.parent)
    (root / "out.py").symlink_to(root.parent / "secret.py")
    (root / "round").symlink_to(root / "..")
    served, generation = publish(root, chunk("a", "secret = 1", path, (1, 1)), chunk("b", CHECK))
    assert list(served) == ["b"]
    assert any("1 of its chunks name places outside" in warning for warning in generation.warnings)


def test_a_saved_source_is_stale_until_its_chunks_are_compared_again(root):
    publish(root, chunk("a", CHECK))
    (root / "src/auth.py").write_text(SOURCE.replace("os.system", "print"))
    config = configuration.load(root)
    fresh = Freshness(config)
    assert fresh.stale(["src/auth.py"], fresh.current()) == {"src/auth.py"}
    served, _ = publish(root)
    assert served["a"]["origin"] == DIFFERS
    assert not fresh.stale(["src/auth.py"], fresh.current())
    (root / "src/auth.py").write_text(SOURCE)
    served, _ = publish(root)
    assert served["a"]["text"] == CHECK
    os.remove(root / "src/auth.py")
    assert fresh.stale(["src/auth.py"], fresh.current()) == {"src/auth.py"}
    served, _ = publish(root)
    assert served["a"]["origin"] == BY_OTHERS


def test_an_index_that_knows_no_sources_of_others_compares_them(root):
    served, _ = publish(root, chunk("a", "def forged(): pass"))
    assert served["a"]["origin"] == DIFFERS
    published = publish(root)[1].number
    assert publish(root)[1].number == published


def edge(source, target, **location):
    return {"from": source, "to": target, "type": "calls"} | ({"location": location} if location else {})


def graph_rows(root, graph):
    _, generation = publish(root, chunk("a", CHECK), graph=graph)
    segments = [
        open_segment(configuration.load(root).index_dir / "segments" / name)
        for name in generation.graph.values()
    ]
    return [(segment.meta["nodes"], segment.meta["edges"]) for segment in segments]


def test_no_edge_and_no_node_of_a_file_that_is_not_there(root):
    node = {"id": "src/auth:check", "kind": "function", "file": "src/auth.py", "start_line": 2, "end_line": 3}
    there = [
        edge("src/auth:after", "src/auth:check"),
        edge("src/auth:after", "src/auth:check", file="src/auth.py", line=6),
        edge("src", "src/auth:check"),
    ]
    gone = [
        edge("fake/mod:planted", "src/auth:check"),
        edge("src/auth:after", "src/auth:check", file="src/gone.py", line=6),
        edge("src/auth:after", "src/auth:check", file="../secret.py", line=6),
        edge("ghost:x", "src/auth:check"),
        edge("/etc/passwd:x", "src/auth:check"),
        edge("../secret:x", "src/auth:check"),
    ]
    ghost = {"id": "ghost:x", "kind": "function", "file": "ghost.py", "start_line": 1, "end_line": 1}
    (root.parent / "secret.py").write_text("")
    graph = {"nodes": [node, ghost], "edges": [*there, *gone]}
    assert graph_rows(root, graph) == [(1, len(there))]
    (root / "ghost.py").write_text("")
    assert graph_rows(root, None) == [(2, len(there) + 1)]
    (root / "src/auth.py").unlink()
    assert graph_rows(root, None) == [(1, 2)]  # the edge of the folder, and of the new file
