"""Outlines and patterns of the graph worker."""

import orjson
import pytest

from cortex.engines.graph import pattern as pattern_search
from cortex.system.errors import BadRequest
from ipc.messages import OutlineSearch, PatternSearch
from tests.engines.small_graph import serve_graph


def test_an_outline_shows_signatures_and_the_most_used_first(worker):
    hits = worker.handlers[OutlineSearch](OutlineSearch("app/store.py"))
    (file,) = [orjson.loads(raw) for raw in hits.results]
    assert [(s["name"], s["signature"]) for s in file["symbols"]] == [
        ("Store", "Store"),
        ("Store.save", "save(self, item)"),
        ("Disk", "Disk(Store)"),
        ("Disk.save", "save(self, item)"),
        ("check", "check(item)"),
    ]
    assert not hits.truncated
    small = worker.handlers[OutlineSearch](OutlineSearch("", max_bytes=300))
    assert small.truncated
    assert b'"main"' in b"".join(small.results)
    assert b'"nobody"' not in b"".join(small.results)
    assert worker.handlers[OutlineSearch](OutlineSearch("app/nothing")).suggestion.endswith(".")


def test_an_outline_of_a_folder_with_one_file_shows_nothing_of_others(worker):
    hits = worker.handlers[OutlineSearch](OutlineSearch("tests"))
    (file,) = [orjson.loads(raw) for raw in hits.results]
    assert file["file"] == "tests/test_main.py"
    assert [symbol["name"] for symbol in file["symbols"]] == ["test_main"]
    assert hits.total_found == 1


def pattern(worker, text, **more):
    hits = worker.handlers[PatternSearch](PatternSearch(text, more.pop("language", "python"), **more))
    return hits, [orjson.loads(raw) for raw in hits.results]


def test_a_pattern_finds_shapes_and_their_variables(worker):
    _, results = pattern(worker, "check($WHAT)")
    assert [(r["file"], r["start_line"], r["variables"]) for r in results] == [
        ("app/main.py", 6, {"WHAT": "2"}),
        ("app/store.py", 3, {"WHAT": "item"}),
    ]
    _, results = pattern(worker, "class $NAME($$$BASES): $$$BODY")
    assert [r["variables"]["NAME"] for r in results] == ["Disk"]
    hits, results = pattern(worker, "check($WHAT)", limit=1, exclude_paths=("app/main.py",))
    assert (len(results), hits.truncated) == (1, False)
    assert pattern(worker, "nowhere($X)")[0].suggestion.endswith("has this shape.")
    assert "not balanced" in pattern(worker, "nowhere($X")[0].suggestion
    assert "no python file" in pattern(worker, "check($X)", paths=("nowhere/**",))[0].suggestion


def test_only_shown_matches_on_a_line_are_located(own_worker, config, monkeypatch):
    (config.root / "lonely.py").write_text(f"x = [{', '.join('check(1)' for _ in range(5_000))}]\n")
    located: list[object] = []
    match_json = pattern_search._match_json
    monkeypatch.setattr(
        pattern_search, "_match_json", lambda *match: (located.append(match), match_json(*match))[1]
    )
    hits, results = pattern(own_worker, "check($A)", paths=("lonely.py",), limit=10)
    assert (hits.total_found, hits.truncated, len(results), len(located)) == (5_000, True, 10, 10)


def test_a_file_too_large_for_patterns_is_reported(own_worker, config, monkeypatch):
    monkeypatch.setattr(pattern_search, "FILE_CHARS_MAX", (config.root / "app/store.py").stat().st_size - 1)
    hits, results = pattern(own_worker, "check($WHAT)")
    assert hits.truncated
    assert hits.suggestion.startswith("app/store.py was left out")
    assert "app/store.py" not in {result["file"] for result in results}
    assert hits.summary["files_searched"] < hits.summary["files"]


@pytest.mark.parametrize(
    ("text", "language"), [("$$$", "python"), ("check($A)", "cobol"), ("x" * 5000, "python")]
)
def test_a_pattern_that_cannot_be_read_is_refused_with_a_sentence(worker, text, language):
    with pytest.raises(BadRequest) as caught:
        pattern(worker, text, language=language)
    assert "\n" not in str(caught.value)
    assert "backtrace" not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("./app", "app"),
        ("store.py", "app/store.py"),
        ("STORE.py:12", "app/store.py"),
        ("/srv/app/store.py:12:3", "app/store.py"),
        ("Disk.save", "app/store.py"),
    ],
)
def test_an_outline_understands_any_end_of_a_path_and_names(worker, path, read):
    hits = worker.handlers[OutlineSearch](OutlineSearch(path, 4000))
    assert hits.target == read
    assert hits.results
    assert ("is not a path in the graph; this is" in hits.suggestion) == (path != "./app")


def test_a_file_without_definitions_is_not_read_as_another(config):
    worker = serve_graph(config, [("app/run", "module", "app/run.ts"), ("app/two", "module", "app/two.ts")])
    hits = worker.handlers[OutlineSearch](OutlineSearch("app/run.ts"))
    assert hits.target == "app/run.ts"
    assert hits.suggestion == "The graph has no definitions in app/run.ts."
