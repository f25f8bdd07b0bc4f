"""The text of answers: what agents read and the shell prints."""

from __future__ import annotations

import pytest

from cortex.front.cli.rendering.answers import print_page
from cortex.front.text import draw, render
from cortex.ranking.unit_map import bytes_of_map

NOTHING_AMISS = {"generation": 3, "pending": [], "pending_count": 0, "degraded": []}


def found_in(text, *, kind="code", lines=(5,), **metadata):
    """Return a result of cortex_exact: a chunk from line 3 on."""
    chunk = {"chunk_type": kind, "metadata": {"file_path": "a.py", "start_line": 3} | metadata}
    marked = [f"marked <em>{line}</em>" for line in lines]
    return {"chunk": chunk | text, "score": 1.0, "highlights": marked, "highlight_lines": list(lines)}


def lines_of(*results, tool="cortex_search", arguments=None, **others):
    answer = {"results": list(results), "index": NOTHING_AMISS} | others
    return render(tool, answer, arguments=arguments).splitlines()


def test_an_answer_names_its_places_and_the_gaps_of_the_index_and_the_shell_prints_the_same(capsys):
    chunk = {
        "chunk_type": "code",
        "text": "\n\ndef run():\n    pass [/bold] [x]\n",
        "metadata": {"file_path": "a.py", "start_line": 3, "end_line": 9, "snippet_start_line": 5},
    }
    index = {
        "pending": ["b.py"],
        "pending_count": 1,
        "degraded": ["vector"],
        "message": "The vector worker is not running.",
    }
    result = {"chunk": chunk, "combined_score": 0.5, "stale": True}
    lines = lines_of(result, index=index)
    assert lines == [
        "a.py:3-9  changed since it was indexed",
        "",
        "",
        "  def run():",
        "      pass [/bold] [x]",
        "The vector worker is not running.",
        "Not in the index yet: b.py (1 file).",
        "Without an answer from: vector.",
    ]
    print_page(draw("cortex_search", {"results": [result], "index": index}, for_person=True))
    out, err = capsys.readouterr()
    assert [line.rstrip() for line in (out + err).splitlines()] == lines


def test_a_clean_answer_says_nothing_of_index_ids_scores_and_tags():
    chunk = {"id": "code-a#1", "tags": ["code", "python"], "created_at": "2026-01-01", "text": "x = 1"}
    chunk["metadata"] = {"file_path": "a.py", "start_line": 3, "end_line": 3, "symbol": "A.x"}
    lines = lines_of({"chunk": chunk, "combined_score": 0.7})
    assert lines == ["a.py:3  A.x", "3  x = 1"]


def test_a_gap_in_chosen_lines_moves_their_numbers_on_and_code_like_a_gap_does_not():
    text = "def run():\n… line 9\n    return 1\n… line 2\n    # ⋯ 3-4"
    chunk = {"text": text, "metadata": {"file_path": "a.py", "start_line": 3, "end_line": 11}}
    assert lines_of({"chunk": chunk, "combined_score": 0.7})[1:] == [
        "3  def run():",
        "…",
        "9      return 1",
        "10  … line 2",
        "11      # ⋯ 3-4",
    ]


@pytest.mark.parametrize("text", ["/*", "}", "});\n", "    }\n\n  }", '"""', "-----"])
def test_a_text_without_a_word_is_no_answer(text):
    chunk = {"text": text, "metadata": {"file_path": "a.py", "start_line": 3, "end_line": 4}}
    assert lines_of({"chunk": chunk, "combined_score": 0.7}) == []


def test_a_location_is_a_place_with_its_symbol_and_nothing_else():
    row = found_in({}, lines=(), end_line=9, scope="A", definitions=[{"name": "A.run"}])
    row["chunk"] |= {"tags": ["code"], "created_at": "2026-01-01", "title": "a.py"}
    assert lines_of(row) == ["a.py:3-9  A"]


def test_a_chunk_and_a_snippet_are_shown_whole_with_the_numbers_of_their_lines():
    text = "\n".join(f"\tline {number}" if number != 6 else "" for number in range(3, 15))
    head, *lines = lines_of(found_in({"text": text}, end_line=14))
    assert head == "a.py:3-14"
    assert lines == ["" if at == 6 else f"{at}  \tline {at}" for at in range(3, 15)]
    snippet = found_in({"text": "line 5\nline 6"}, snippet_start_line=5, lines=(6,))
    assert lines_of(snippet)[1:] == ["5  line 5", "6  line 6"]


def test_the_lines_of_a_kind_of_another_program_have_their_numbers():
    result = found_in({"text": "line 3\nline 4"}, kind="adr", lines=(4,))
    assert lines_of(result)[1:] == ["3  line 3", "4  line 4"]


def test_a_chunk_without_text_shows_its_matching_lines_with_their_numbers():
    assert lines_of(found_in({}, lines=(5, 9)))[1:] == ["5  marked 5", "9  marked 9"]


def test_a_line_that_matches_behind_the_cut_of_a_text_is_shown_all_the_same():
    cut = found_in({"text": "line 3\nline 4\n…"}, lines=(4, 9), text_truncated=True)
    *lines, note = lines_of(cut)[1:]
    assert lines == ["3  line 3", "4  line 4", "  …", "9  marked 9"]
    assert note == "Some texts are cut; a larger `max_tokens` shows more."


def test_lines_of_a_view_have_no_numbers_for_they_are_from_many_places():
    result = found_in({"text": "// Lines 8-9\ntype A"}, kind="definitions", lines=(8,))
    assert lines_of(result)[1:] == ["  // Lines 8-9", "  type A"]


def test_a_line_that_is_none_of_the_file_is_shown_without_a_number():
    assert lines_of(found_in({}, kind="definitions", lines=(0, 8)))[1:] == ["marked 0", "8  marked 8"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"total_found": 9, "total_returned": 1}, "1 of 9 are shown; {limit} and {max_tokens} show more."),
        ({"next": "There is more: narrow by paths."}, "There is more: narrow by paths."),
        ({}, "There is more: raise {limit} or {max_tokens}, or narrow by {paths}."),
    ],
)
def test_a_cut_answer_says_how_to_get_the_rest(more, sentence):
    answer = {"results": [found_in({"text": "def run"})], "index": NOTHING_AMISS, "truncated": True} | more
    names = ("limit", "max_tokens", "paths")
    for_agents = sentence.format(**{name: f"`{name}`" for name in names})
    assert render("cortex_exact", answer).splitlines()[-1] == for_agents
    for_people = sentence.format(**{name: f"--{name.replace('_', '-')}" for name in names})
    assert draw("cortex_exact", answer, for_person=True).notes == [for_people]


def test_lines_that_are_left_out_are_counted():
    lines = lines_of(omitted={"alike": 2, "a part": 4})
    assert lines == ["Left out: 2 lines like those shown, 4 lines that hold a part of the query."]


def exact_line(path, text, **others):
    line = int(text.partition(":")[0])
    metadata = {"file_path": path, "start_line": line, "end_line": line, "kind": "call"}
    return {"chunk": {"id": path, "text": text, "metadata": metadata}, "score": 1.0} | others


def test_matching_lines_are_as_grep_prints_them_in_the_order_of_the_answer():
    rows = [
        exact_line("b.py", "4: run()"),
        exact_line("a.py", "7: run(1)"),
        exact_line("a.py", "3: import run"),
    ]
    lines = lines_of(*rows, tool="cortex_exact", match_type="exact", total_found=3, total_returned=3)
    assert lines == ["b.py:4: run()", "a.py", "  7: run(1)", "  3: import run", "3 in all."]


@pytest.mark.parametrize(("symbol", "head"), [("src/a.py:9", "src/a.py:9"), ("run", "src/a.py:9  run")])
def test_lines_that_no_definition_holds_have_their_place_as_a_head_once(symbol, head):
    row = {"symbol": symbol, "file": "src/a.py", "start_line": 9, "end_line": 9, "text": "x = 1"}
    assert render("cortex_explore", {"functions": [row]}).splitlines() == [head, "9  x = 1"]


CALLER = {"name": "go", "kind": "function", "at": "src/a.go:11", "edge": "calls", "confidence": "exact"}


def test_call_sites_are_lines_of_grep_and_tests_come_last():
    test = CALLER | {"name": "TestGo", "at": "src/a_test.go:5", "text": "run(1)"}
    doubted = CALLER | {"at": "src/b.go:3", "confidence": "name", "text": "x.run()"}
    block = "9: func go() {\n11:     run(now)"
    lines = lines_of(
        test, CALLER | {"text": block}, doubted, tool="cortex_graph", operation="callers", target="a:run",
        total_found=3, total_returned=3,
    )  # fmt: skip
    assert lines == [
        "callers of a:run: 3",
        "src/a.go:11  go: run(now)",
        "src/b.go:3  go: x.run()  by its name alone",
        "src/a_test.go:5  TestGo: run(1)",
    ]


def test_further_places_of_a_caller_are_places_of_their_own_with_code_and_numbers_without():
    sites = [11, 40, "src/b.go:3"]
    lines = lines_of(CALLER | {"sites": sites}, tool="cortex_graph", operation="callers", target="a:run")
    assert lines[1:] == ["src/a.go:11  go  also 11, 40, src/b.go:3"]
    site = {"file": "src/a.go", "line": 40, "text": " run(2)", "unsure": True}
    row = CALLER | {"text": "run(now)", "sites": [site], "more_sites": 2}
    lines = lines_of(row, tool="cortex_graph", operation="callers", target="a:run")
    assert lines[1:] == [
        "src/a.go",
        "  11  go: run(now)  and 2 more places",
        "  40  go: run(2)  may be another's",
    ]


def test_the_lines_around_a_site_are_shown_to_a_caller_that_asks_for_them():
    row = CALLER | {"text": "9: func go() {\n11:     run(now)"}
    answer = {"operation": "callers", "target": "a:run", "results": [row], "index": NOTHING_AMISS}
    shown = render("cortex_graph", answer, arguments={"context_lines": 2}).splitlines()
    assert shown[1:] == ["src/a.go:11  go", "    9  func go() {", "    …", "    11      run(now)"]


def test_impact_has_sites_for_the_first_step_and_names_by_file_for_further_ones():
    row = CALLER | {"impact_type": "caller", "severity": "high", "text": "run(now)"}
    far = [row | {"depth": 2, "name": name, "at": f"src/b.go:{at}"} for name, at in (("B.a", 3), ("b", 9))]
    lines = lines_of(row, *far, tool="cortex_graph", operation="impact", target="a:run")
    assert lines[1:] == ["src/a.go:11  go: run(now)", "2 steps away", "  src/b.go: B.a:3, b:9"]


def test_a_definition_that_the_target_leads_to_has_the_line_that_leads_there():
    row = CALLER | {"at": "src/b.go:30", "from": 11, "text": "11:     helper(now)"}
    lines = lines_of(row, tool="cortex_graph", operation="callees", target="a:run", file="src/a.go")
    assert lines == ["callees of a:run: 1 (src/a.go)", "src/b.go:30  go  from 11: helper(now)"]


CODE = {"file": "a.py", "start": 98, "end": 130, "name": "A.run"}


def test_places_of_one_file_have_its_path_once_and_take_no_more_bytes_than_are_counted():
    other = {"file": "src/b.py", "start": 3, "end": 3, "name": "b"}
    places = [CODE, other, CODE | {"start": 7, "end": 7, "name": "A"}]
    text = render("cortex_search", {"map": places})
    assert text.splitlines() == ["a.py", "  98-130  A.run", "  7  A", "src/b.py:3  b"]
    assert len(f"{text}\n".encode()) <= bytes_of_map(places)


def test_the_parts_that_agents_tools_share():
    answer = {
        "map": [CODE, {"file": "b.py", "start": 3, "end": 3, "name": "b", "note": "test"}],
        "code": [
            CODE | {
                "pieces": [{"start": 98, "text": "def run():\n    a"}, {"start": 120, "text": "    y\n    z"}],
                "outline": [
                    {"start": 100, "end": 119, "text": "    if retry:"},
                    {"start": 120, "end": 121, "text": "    y"},
                    {"start": 122, "end": 130, "text": "    else:"},
                ],
            },
            CODE | {"name": "old", "stale": True, "pieces": [{"start": 0, "text": "def old():"}]},
        ],
        "sites": {
            "of": "A.run",
            "at": "a.py:98",
            "total": 3,
            "files": [
                {"file": "test_a.py", "test": True, "sites": [{"line": 3, "name": "test_run", "text": " run()"}]},
                {"file": "c.py", "sites": [{"line": 40, "name": "C.go"}, {"line": 41, "text": "x"}, {"line": 77}]},
                {"file": "d.py", "sites": [{"line": 7}, {"line": 9}], "unsure": True},
            ],
            "counts": [{"file": "f.py", "count": 12}, {"more_files": 2, "count": 5}],
            "imports": {"total": 3, "files": [{"file": "c.py", "lines": [1, 2]}]},
            "further": {
                "total": 3,
                "files": [{"file": "g.py", "names": ["go", "G.on"]}, {"file": "h.py", "names": [""]}],
            },
            "unresolved": {
                "name": "run",
                "total": 9,
                "places": ["d.py:3", {"file": "e.py", "line": 4, "text": "run"}],
                "files": [{"file": "f.py", "lines": [5, 6]}],
            },
            "next_offset": 3,
        },
        "calls": [{"file": "d.py", "start": 5, "name": "save"}],
        "tests": [{"file": "test_a.py", "start": 1, "end": 9, "name": "test_run"}],
        "notes": ["The index holds older lines."],
        "suggestion": "Ask in English.",
        "index": NOTHING_AMISS | {"degraded": ["graph"]},
        "later": {"key": "of another version"},
    }  # fmt: skip
    assert render("cortex_read", answer).splitlines() == [
        "a.py:98-130  A.run",
        "b.py:3  b  test",
        "",
        "uses of A.run, a.py:98: 3",
        "c.py",
        "  40  C.go",
        "  41: x",
        "c.py: 77",
        "d.py: 7, 9  may be another's",
        "in tests",
        "test_a.py:3  test_run: run()",
        "f.py: 12 places",
        "2 more files: 5 places",
        "3 imports",
        "c.py: 1, 2",
        "2 steps away: 3",
        "  g.py: go, G.on",
        "  h.py",
        "9 more places name run, unresolved",
        "d.py:3",
        "e.py:4: run",
        "f.py: 5, 6",
        "",
        "a.py:98-130  A.run",
        "98  def run():",
        "99      a",
        "  100-119     if retry: …",
        "120      y",
        "121      z",
        "  122-130     else: …",
        "a.py:98-130  old  changed since it was indexed",
        "  def old():",
        "calls",
        "  d.py:5  save",
        "tests",
        "  test_a.py:1-9  test_run",
        "later",
        "  key: of another version",
        "There are more: `offset` 3.",
        "The index holds older lines.",
        "Ask in English.",
        "Without an answer from: graph.",
    ]


NOTE = {
    "id": "01a", "number": 7, "kind": "decision", "title": "Retries use\n<note> jitter", "score": 0.5,
    "created_at": "2026-11-20T22:13:20Z", "trust": "import", "body": "<note>\nBecause\nof herds.\n</note>",
}  # fmt: skip


def test_a_note_keeps_its_fence_for_an_agent_and_has_none_for_a_person():
    answer = {"results": [NOTE | {"stale": True}]}
    assert render("cortex_recall", answer).splitlines() == [
        "7  Retries use &lt;note> jitter  decision, 2026-11-20, trust import, stale",
        "<note>",
        "Because",
        "of herds.",
        "</note>",
    ]
    for_person = draw("cortex_recall", answer, for_person=True).text().splitlines()
    assert for_person[0].startswith("   7  Retries use &lt;note> jitter  decision, ")
    assert [line.strip() for line in for_person[1:]] == ["Because", "of herds."]


def test_no_character_of_a_path_or_a_line_acts_as_a_command_or_as_a_line_of_its_own():
    chunk = {"text": "x\x1b[2J\u2028y", "metadata": {"file_path": "a\nb.py", "start_line": 1, "end_line": 1}}
    text = render("cortex_search", {"results": [{"chunk": chunk, "combined_score": 0.5}]})
    assert text.split("\n") == ["a\\nb.py:1", "1  x\\x1b[2J\\u2028y"]


def test_left_out_lines_are_drawn_with_the_indentation_of_their_code():
    outline = [
        {"start": 3, "end": 9, "text": "    if retry:"},
        {"start": 11, "end": 11, "text": "        log(error)"},
        {"start": 12, "end": 12, "text": "\tlog(error, a_long_na…"},
        {"start": 14, "end": 20, "text": "    "},
    ]
    pieces = [
        {"start": 1, "text": "def run():\n    a"},
        {"start": 10, "text": "    else:"},
        {"start": 13, "text": "    b"},
    ]
    code = [
        CODE | {"pieces": pieces, "outline": outline, "note": "same in b.py:7"},
        CODE | {"stale": True, "pieces": [{"start": 0, "text": "a"}, {"start": 0, "text": "b"}]},
    ]
    assert render("cortex_read", {"code": code}).splitlines() == [
        "a.py:98-130  A.run  same in b.py:7",
        "1  def run():",
        "2      a",
        "  3-9     if retry: …",
        "10      else:",
        "  11         log(error)",
        "  12 \tlog(error, a_long_na …",
        "13      b",
        "  14-20      …",
        "a.py:98-130  A.run  changed since it was indexed",
        "  a",
        "  …",
        "  b",
    ]
