"""Files, lines and chunk ids resolved to chunks, over rows of several segments, some deleted."""

from dataclasses import replace

import numpy as np
import pytest

from cortex.engines.chunks.locate import FILES_MAX, locate
from cortex.generation.current import Generation, SegmentRef
from cortex.generation.read import open_rows
from cortex.generation.segments.segment import write_segment
from cortex.generation.write import Row, write_rows
from ipc.messages import Locate, Place

DIMENSIONS = 4


def row(key, path, start, end, kind="code", **metadata):
    body = {
        "id": f"{kind}-{path}~{key}",
        "chunk_type": kind,
        "text": "",
        "tags": [],
        "metadata": {"file_path": path, "start_line": start, "end_line": end, **metadata},
    }
    vector = np.zeros(DIMENSIONS, np.float32)
    vector[key % DIMENSIONS] = 1
    return Row(key, body, "f.json", bytes(16), vector, "m@1")


def definition(name, start, end, scope="", kind="function"):
    return {"name": name, "kind": kind, "scope": scope, "start_line": start, "end_line": end}


ROWS = [
    row(1, "src/auth/session.py", 1, 20, definitions=[definition("LIMIT", 1, 1, kind="constant"), definition("Store", 3, 20, kind="class"), definition("load", 5, 9, "Store")]),
    row(2, "src/auth/session.py", 21, 40, scope="Store.save"),
    row(3, "src/auth/session.py", 1, 40, kind="symbols", symbols=["Store"]),
    row(4, "src/web/session.py", 1, 9),
    row(5, "views.py", 1, 9, kind="definitions"),
    row(6, "src/auth/gone.py", 1, 9),
    *(row(10 + at, f"p{at}/__init__.py", 1, 2) for at in range(FILES_MAX + 2)),
]  # fmt: skip


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    (folder / "segments").mkdir()
    refs = []
    for name, segment_rows in (("a", ROWS[:2]), ("b", ROWS[2:])):
        refs.append(
            SegmentRef(
                name, len(segment_rows), write_rows(folder / "segments" / name, segment_rows, DIMENSIONS)
            )
        )
    write_segment(folder / "segments" / "deleted", {"keys": np.array([6], "<u8")}, {})
    return open_rows(
        Generation(1, tuple(refs), deleted="deleted", model="m@1", dimensions=DIMENSIONS), folder
    )


def spots(rows, *places):
    return locate(rows, Locate(places)).spots


def keys(rows, *places):
    return [spot.hit.key for spot in spots(rows, *places)]


@pytest.mark.parametrize(
    ("line", "key", "symbols"),
    [
        (1, 1, ("LIMIT",)),
        (3, 1, ("Store",)),
        (7, 1, ("Store.load",)),
        (21, 2, ("Store.save",)),
        (40, 2, ("Store.save",)),
    ],
)
def test_a_line_resolves_to_its_chunk_and_its_innermost_definition(rows, line, key, symbols):
    (spot,) = spots(rows, Place("src/auth/session.py", line))
    assert (spot.hit.key, spot.symbols, spot.file_rows) == (key, symbols, 2)


def test_a_line_that_no_chunk_holds_has_no_spot(rows):
    assert keys(rows, Place("src/auth/session.py", 41)) == []


def test_a_file_spot_has_all_lines_and_names_and_the_mean_vector(rows):
    located = locate(rows, Locate((Place("src/auth/session.py"),)))
    (spot,) = located.spots
    assert (spot.hit.key, spot.hit.start_line, spot.hit.end_line) == (1, 1, 40)
    assert spot.symbols == ("Store", "Store.load", "LIMIT")
    assert located.vectors[0] == pytest.approx(np.array([0, 1, 1, 0]) / np.sqrt(2))
    assert located.model == "m@1"


def test_a_file_with_views_only_resolves_to_them(rows):
    assert keys(rows, Place("views.py", 4)) == [5]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/auth/session.py", [1]),
        ("auth/session.py", [1]),
        ("/home/me/project/src/auth/session.py", [1]),
        ("session.py", [1, 4]),
        ("/elsewhere/session.py", []),
        ("other/auth/session.py", [1]),
        ("src/auth/gone.py", []),
        ("session", []),
        ("", []),
        ("/", []),
    ],
)
def test_a_path_resolves_to_the_files_that_share_most_of_its_end(rows, path, expected):
    assert keys(rows, Place(path)) == expected


def test_a_name_of_many_files_returns_only_the_first(rows):
    assert len(keys(rows, Place("__init__.py"))) == FILES_MAX


def test_an_id_matches_completely_in_any_segment_while_it_is_live(rows):
    assert keys(rows, Place(id="code-src/auth/session.py~2")) == [2]
    assert keys(rows, Place(id="symbols-src/auth/session.py~3")) == [3]
    assert keys(rows, Place(id="src/auth/session.py~2")) == []
    assert keys(rows, Place(id="code-src/auth/gone.py~6")) == []


def test_spots_come_in_the_order_of_the_places_with_their_index(rows):
    answers = spots(rows, Place("views.py"), Place("nowhere.py"), Place("web/session.py", 3))
    assert [(spot.place, spot.hit.key) for spot in answers] == [(0, 5), (2, 4)]
    assert [(spot.shared, spot.whole) for spot in answers] == [(1, True), (2, True)]


def test_no_places_have_no_spots(rows):
    located = locate(rows, Locate(()))
    assert (located.spots, located.vectors.shape) == ((), (0, DIMENSIONS))


def test_bare_spots_differ_only_in_names_and_vectors(rows):
    places = (
        Place("src/auth/session.py"),
        Place("src/auth/session.py", 7),
        Place("session.py"),
        Place(id="code-views.py~5"),
    )
    full, bare = (locate(rows, Locate(places, bare=bare)) for bare in (False, True))
    assert any(spot.symbols for spot in full.spots)
    assert [replace(spot, symbols=()) for spot in full.spots] == list(bare.spots)
    assert (len(full.vectors), len(bare.vectors)) == (len(full.spots), 0)
