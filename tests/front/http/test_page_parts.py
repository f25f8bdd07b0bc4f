"""Parts of the views without a browser: code and its marks, tiles, access rights."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.front.http.access.tokens import add_named
from cortex.front.http.page import project
from cortex.front.http.page.parts.code import lines_of, spans_of
from cortex.front.http.page.parts.sources import SourceFile


def text_of(lines):
    return "\n".join("".join(piece.text for piece in line.pieces) for line in lines)


def marked_pieces(lines):
    return [piece.text for line in lines for piece in line.pieces if piece.marked]


@given(st.text(max_size=200), st.sampled_from(["python", "go", "markdown", "", "no such language"]))
def test_code_of_any_content_is_shown_unchanged(text, language):
    text = text.replace("\r", "")
    lines = lines_of(text, language, 1, spans_of(text, ["ab", "0"], includes_short=True))
    assert text_of(lines).rstrip() == text.rstrip()


def test_marks_cross_colours_and_lines_and_name_the_lines_that_they_are_on():
    text = "def rotate(token):\n    return token\n"
    lines = lines_of(text, "python", 7, [(4, 10), (8, 24)])
    assert "".join(marked_pieces(lines)) == text[4:24].replace("\n", "")
    assert [(line.number, line.hit) for line in lines] == [(7, True), (8, True)]
    assert {piece.css for piece in lines[0].pieces} > {"k", "nf"}


def test_a_piece_of_a_text_that_began_before_is_not_taken_for_code_inside_out():
    lines = lines_of('    tail of it.\n    """\n    return 1\n', "python", 3)
    assert [piece.css for piece in lines[2].pieces if piece.text == "return"] == ["k"]
    lines = lines_of('    """\n    if token := given():\n        return token\n', "python", 3)
    assert [piece.css for piece in lines[2].pieces if piece.text == "return"] == ["k"]
    lines = lines_of('"""\nWhat this module is for\n', "python", 1)
    assert len(lines[1].pieces) == 1
    lines = lines_of(" * end\n */\nint x = 1;\n", "c", 3)
    assert [piece.css for piece in lines[2].pieces if piece.text == "int"] == ["kt"]


def source(path, lines):
    return SourceFile(path, "python", 40 * lines, lines, True)


@given(
    st.lists(
        st.tuples(
            st.text("ab/", min_size=1, max_size=9).map(lambda t: t.strip("/") or "a"), st.integers(1, 5000)
        ),
        max_size=60,
        unique_by=lambda pair: pair[0],
    )
)
def test_tiles_are_as_large_as_files_are_long_and_none_is_outside(pairs):
    pairs = [(f"{path}.py", lines) for path, lines in pairs]
    placed, _ = project.tile_files([source(path, lines) for path, lines in pairs], {})
    assert sorted((tile.path, tile.lines) for tile in placed) == sorted(pairs)
    for tile in placed:
        assert tile.box.x >= 0
        assert tile.box.y >= 0
        assert tile.box.x + tile.box.width <= project.WIDTH + 0.001
        assert tile.box.y + tile.box.height <= project.HEIGHT + 0.001


def test_tiles_of_one_folder_share_all_of_it_by_their_lines():
    placed, _ = project.tile_files([source(f"{n}.py", n) for n in (10, 20, 70)], {"70.py": 9, "10.py": 1})
    area = {tile.path: tile.box.width * tile.box.height for tile in placed}
    assert math.isclose(area["70.py"], 0.7 * project.WIDTH * project.HEIGHT)
    assert {tile.path: tile.heat for tile in placed} == {"70.py": project.HEATS - 1, "20.py": 0, "10.py": 2}


def test_of_very_many_files_the_small_ones_share_a_tile_in_their_folder(monkeypatch):
    monkeypatch.setattr(project, "TILES_MAX", 2)
    placed, _ = project.tile_files([source(f"a/{n}.py", n) for n in (1, 2, 30, 40)], {})
    assert sorted((tile.path, tile.lines, tile.files) for tile in placed) == [
        ("a/30.py", 30, 1),
        ("a/40.py", 40, 1),
        ("a/…", 3, 2),
    ]


@pytest.fixture
def reader(own_server, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    own_server.token = add_named("reader", "read", 0.0)
    return own_server


@pytest.mark.parametrize(("action", "body"), [("checks", {}), ("log", {"name": "text"})])
def test_only_the_owner_of_a_server_sees_paths_of_its_machine(reader, action, body):
    assert reader.status("POST", f"/page/state/{action}", body) == 403
    status, _, html = reader.ask("GET", "/state")
    assert status == 200
    assert b"log-of" not in html
    status, _, html = reader.ask("GET", "/search")
    assert b'data-root=""' in html


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"query": "x", "way": "structure"}, b"Choose a language"),
        ({"query": "(", "way": "expression"}, b"notice odd"),
        ({"query": '"half', "way": "words"}, b"notice odd"),
    ],
)
def test_an_unfinished_query_gets_a_notice_and_no_error(server, body, words):
    status, _, html = server.ask("POST", "/page/search/find", body)
    assert status == 200
    assert words in html


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("search/find", {"query": 1}, 400),
        ("search/find", {"query": "x", "way": "luck"}, 400),
        ("search/find", {"query": "x", "way": []}, 400),
        ("state/log", {"name": "../text"}, 400),
        ("search/nothing", {}, 404),
        ("nothing/find", {}, 404),
    ],
)
def test_an_invalid_action_is_one_sentence(server, path, body, status):
    got, _, answer = server.ask("POST", f"/page/{path}", body)
    assert got == status
    assert "\n" not in answer["error"]["message"]
