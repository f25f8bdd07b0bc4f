"""The graph engine: targets, bounded walks, context inside the root only, foreign files,
outlines and patterns.
"""

from __future__ import annotations

import os

import numpy as np
import orjson
import pytest

from cortex.engines.graph import pattern as pattern_search
from cortex.engines.graph import walks
from cortex.engines.graph.arrays import CANDIDATES_MAX
from cortex.engines.graph.sources import Sources
from cortex.engines.serving import EngineWorker
from cortex.generation.current import read_current
from cortex.generation.manifest import Entry
from cortex.generation.read import open_rows
from cortex.generation.references import COUNTS
from cortex.indexer.store.graph_store import GraphStore
from cortex.indexer.syntax.source import digest
from cortex.publish.builder import Builder
from cortex.settings.config import Config
from ipc.errors import BadRequest
from ipc.messages import GraphSearch, OutlineSearch, PatternSearch
from workers.watcher import WatcherWorker

FILES = {
    "app/store.py": (
        "class Store:\n    def save(self, item):\n        return check(item)\n\n\n"
        "class Disk(Store):\n    def save(self, item):\n        return super().save(item)\n\n\n"
        "def check(item):\n    return item\n"
    ),
    "app/main.py": (
        "from app.store import Disk, check\n\n\ndef main(disk: Disk):\n    disk.save(1)\n    check(2)\n    helper()\n\n\n"
        "def helper():\n    main(Disk())\n"
    ),
    "tests/test_main.py": "from app.main import main\n\n\ndef test_main():\n    main(None)\n",
    "lonely.py": "def nobody():\n    pass\n",
}


@pytest.fixture
def config(tmp_path):
    config = Config(root=tmp_path / "project")
    for name, text in FILES.items():
        path = config.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    config.chunks_dir.mkdir(parents=True)
    body = {"id": "x", "chunk_type": "code", "text": "x", "metadata": {"file_path": "app/main.py"}}
    (config.chunks_dir / "a.json").write_bytes(orjson.dumps({"_metadata": {}, "chunks": [body]}))
    return config


def write_graph(config):
    entries = {
        name: Entry(digest((config.root / name).read_bytes()), 1, 1)
        for name in FILES
        if (config.root / name).exists()
    }
    GraphStore(config).update(entries, {})


def publish(config):
    builder = Builder(config)
    try:
        while builder.refresh() is not None:
            pass
        return builder.current, builder.warnings
    finally:
        builder.close()


@pytest.fixture
def worker(config):
    write_graph(config)
    publish(config)
    made = EngineWorker("graph", config)
    made.reload()
    return made


def ask(worker, operation, target, **more):
    hits = worker.handlers[GraphSearch](GraphSearch(operation, target, **more))
    return hits, [orjson.loads(raw) for raw in hits.results]


def ids(worker, operation, target, **more):
    return [result["node"]["id"] for result in ask(worker, operation, target, **more)[1]]


@pytest.mark.parametrize(
    "target",
    [
        "app/store:Disk.save",
        "Disk.save",
        "app.store.Disk.save",
        "store:Disk.save",
        "Disk::save",
        "store/Disk.save",
    ],
)
def test_any_unique_end_of_an_id_is_a_target(worker, target):
    assert ask(worker, "callers", target)[0].target == "app/store:Disk.save"


def test_a_file_is_a_target_by_its_path(worker):
    assert ids(worker, "dependents", "app/store.py") == ["app/main"]
    assert ids(worker, "dependencies", "app/main.py") == ["app/store"]
    assert ids(worker, "dependents", "app/store.py", depth=2) == ["app/main", "tests/test_main"]
    assert ids(worker, "dependencies", "tests/test_main.py", depth=2) == ["app/main", "app/store"]
    assert ids(worker, "callers", "app/main.py") == ["tests/test_main:test_main"]
    assert ids(worker, "dependencies", "lonely.py") == []
    assert "No edge leads from lonely" in ask(worker, "dependencies", "lonely.py")[0].suggestion


def served(config, nodes, edges=()):
    """A worker over a graph of another program:
    nodes are (id, kind, file), edges (from, to, type).
    """
    (config.graph_dir).mkdir(parents=True, exist_ok=True)
    graph = {
        "nodes": [{"id": name, "kind": kind, "file": file, "start_line": 1} for name, kind, file in nodes],
        "edges": [
            {"from": one, "to": to, "type": kind, "location": {"file": "x"}} for one, to, kind in edges
        ],
    }
    (config.graph_dir / "code-graph.json").write_bytes(orjson.dumps(graph))
    publish(config)
    made = EngineWorker("graph", config)
    made.reload()
    return made


def test_of_several_meanings_the_one_in_main_code_is_meant_and_the_others_are_named(config):
    worker = served(
        config,
        [
            ("src/echo", "module", "src/echo.py"),
            ("src/echo:echo", "function", "src/echo.py"),
            ("tests/test_echo:main", "function", "tests/test_echo.py"),
            ("tests/test_echo:main.echo", "function", "tests/test_echo.py"),
            ("tests/test_echo:Box", "class", "tests/test_echo.py"),
            ("src/echo:Box", "class", "src/echo.py"),
            ("src/echo:Box.Box", "method", "src/echo.py"),
            ("src/one:twin", "function", "src/one.py"),
            ("src/two:twin", "function", "src/two.py"),
            ("dist/one:bundled", "function", "dist/one.js"),
            ("lib/one:bundled", "function", "lib/one.js"),
        ],
    )
    for target, meant, others in [
        ("echo", "src/echo:echo", ()),
        ("src/echo.py", "src/echo", ()),
        ("src/echo.py:echo", "src/echo:echo", ()),
        ("src/echo.py::Box", "src/echo:Box", ()),
        ("main.echo", "tests/test_echo:main.echo", ()),
        ("Box", "src/echo:Box", ("tests/test_echo:Box",)),
        ("twin", "", ("src/one:twin", "src/two:twin")),
        ("bundled", "lib/one:bundled", ("dist/one:bundled",)),
    ]:
        hits, _ = ask(worker, "callers", target)
        assert (hits.target, hits.candidates) == (meant, others), target
    assert "Also called 'Box': tests/test_echo:Box." in ask(worker, "callers", "Box")[0].suggestion


def test_overloads_of_one_thing_are_not_unsure(config):
    nodes = [("a:f", "function", "a.cs"), ("a:f~2", "function", "a.cs"), ("b:f", "function", "b.cs")]
    nodes += [("c:one", "function", "c.cs"), ("c:two", "function", "c.cs")]
    served(config, nodes)
    data = orjson.loads((config.graph_dir / "code-graph.json").read_bytes())
    place = {"file": "c.cs", "line": 1, "column": 0}
    data["edges"] = [
        {"from": "c:one", "to": "", "type": "calls", "location": place, "candidates": ["a:f", "a:f~2"]},
        {"from": "c:two", "to": "", "type": "calls", "location": place, "candidates": ["a:f", "b:f"]},
    ]
    (config.graph_dir / "code-graph.json").write_bytes(orjson.dumps(data))
    publish(config)
    worker = EngineWorker("graph", config)
    worker.reload()
    hits, results = ask(worker, "impact", "a:f")
    assert {r["node"]["id"]: r["severity"] for r in results} == {"c:one": "high", "c:two": "medium"}
    assert "1 of these 2 are calls that may mean something else" in hits.suggestion
    assert results[0]["candidates"] == ["a:f", "a:f~2"]


def test_the_watcher_sees_both_folders_by_events_as_soon_as_they_are_there(config):
    watcher = WatcherWorker(config)
    try:
        watcher._watch()
        assert set(watcher._watched) == {config.chunks_dir}
        config.graph_dir.mkdir(parents=True)
        watcher._watch()
        assert set(watcher._watched) == {config.chunks_dir, config.graph_dir}
    finally:
        watcher._unwatch()
        watcher._builder.close()


def test_what_ruby_opens_again_in_other_files_is_one_thing(config):
    files = ["lib/a.rb", "lib/b.rb"]
    nodes = [(f"{file[:-3]}:Shop.Store", "class", file) for file in files]
    nodes += [("lib/c:Disk", "class", "lib/c.rb"), ("lib/d:Tape", "class", "lib/d.rb")]
    edges = [("lib/c:Disk", "lib/a:Shop.Store", "extends"), ("lib/d:Tape", "lib/b:Shop.Store", "extends")]
    assert sorted(ids(served(config, nodes, edges), "implementations", "Shop::Store")) == [
        "lib/c:Disk",
        "lib/d:Tape",
    ]


def test_a_go_package_is_its_own_files_and_not_those_below_it(config):
    nodes = [(".", "package", "a.go"), ("a", "module", "a.go"), ("a:Run", "function", "a.go")]
    nodes += [
        ("doc", "package", "doc/b.go"),
        ("doc/b", "module", "doc/b.go"),
        ("doc/b:Make", "function", "doc/b.go"),
    ]
    worker = served(config, nodes, [("doc/b", ".", "imports"), ("doc/b:Make", "a:Run", "calls")])
    location = "doc/b.go"
    data = orjson.loads((config.graph_dir / "code-graph.json").read_bytes())
    data["edges"] = [edge | {"location": {"file": location, "line": 3}} for edge in data["edges"]]
    (config.graph_dir / "code-graph.json").write_bytes(orjson.dumps(data))
    publish(config)
    worker.reload()
    assert ids(worker, "dependents", ".") == ["doc/b"]
    assert ids(worker, "dependents", "a.go") == ["doc/b"]
    assert ids(worker, "dependencies", "doc/b.go") == [".", "a"]
    assert ids(worker, "dependencies", "a.go") == []


def test_a_scope_is_walked_through_and_excluded_files_are_not_entered(worker):
    assert ids(worker, "callers", "check", scope="tests/**") == []
    assert ids(worker, "callers", "check", scope="tests/**", depth=2) == ["tests/test_main:test_main"]
    assert ids(worker, "callers", "check", exclude_patterns=("app/main.py",), depth=3) == [
        "app/store:Store.save",
        "app/store:Disk.save",
    ]


def test_several_meanings_are_listed_and_none_is_guessed(worker):
    hits, results = ask(worker, "callers", "save")
    assert results == []
    assert hits.candidates == ("app/store:Disk.save", "app/store:Store.save")
    assert "any of 2" in hits.suggestion


def test_an_unknown_name_brings_the_nearest(worker):
    hits, _ = ask(worker, "callers", "chekc")
    assert "app/store:check" in hits.candidates


@pytest.mark.parametrize("target", ["", "  ", ":::", "~2", "\ud800", "x" * 5000, "a/../../b"])
def test_odd_targets_are_answered_with_a_sentence(worker, target):
    hits, results = ask(worker, "callers", target)
    assert (results, hits.total_found) == ([], 0)
    assert hits.suggestion.endswith(".")


def test_an_empty_answer_says_why(worker):
    assert ask(worker, "callers", "nobody")[0].suggestion.startswith(
        "The graph has no callers of lonely:nobody."
    )
    assert "loosen" in ask(worker, "callers", "check", scope="nowhere/**")[0].suggestion


def test_depth_follows_levels_and_cycles_end(worker):
    assert ids(worker, "callers", "check") == ["app/main:main", "app/store:Store.save"]
    hits, results = ask(worker, "callers", "check", depth=10)
    assert [(r["depth"], r["node"]["id"]) for r in results] == [
        (1, "app/main:main"),
        (1, "app/store:Store.save"),
        (2, "app/main:helper"),
        (2, "app/store:Disk.save"),
        (2, "tests/test_main:test_main"),
    ]
    assert (hits.total_found, hits.truncated) == (5, False)


def test_limits_cut_and_say_so(worker):
    hits, results = ask(worker, "callers", "check", depth=3, max_per_level=1)
    assert len(results) == 2
    assert hits.truncated
    hits, results = ask(worker, "callers", "check", depth=3, max_results=1)
    assert (len(results), hits.truncated) == (1, True)


def test_scope_and_exclude_patterns_keep_files_out(worker):
    assert ids(worker, "callers", "main:main") == ["app/main:helper", "tests/test_main:test_main"]
    assert ids(worker, "callers", "main:main", scope="tests/**") == ["tests/test_main:test_main"]
    assert ids(worker, "callers", "main:main", exclude_patterns=("tests/",)) == ["app/main:helper"]


def test_paths_are_shortest_and_need_an_end(worker):
    assert ids(worker, "path", "test_main:test_main", to="check") == [
        "tests/test_main:test_main",
        "app/main:main",
        "app/store:check",
    ]
    assert ids(worker, "path", "check", to="nobody") == []
    with pytest.raises(BadRequest, match="needs `to`"):
        ask(worker, "path", "check")


def test_impact_says_what_kind_and_how_bad(worker):
    hits, results = ask(worker, "impact", "app/store:Store", depth=2)
    found = {r["node"]["id"]: (r["impact_type"], r["severity"], r["depth"]) for r in results}
    assert found["app/store:Disk"] == ("subtype", "high", 1)
    assert found["app/main:main"] == ("caller", "medium", 2)
    assert hits.summary["by_severity"]["high"] >= 1


def test_an_impact_counts_everything_and_shows_the_worst(worker):
    whole, _ = ask(worker, "impact", "app/store:check", depth=3)
    assert whole.total_found == whole.summary["affected"] > 2
    for limits in ({"max_results": 1}, {"max_per_level": 1}, {"max_results": 2}):
        cut, results = ask(worker, "impact", "app/store:check", depth=3, **limits)
        assert (cut.total_found, cut.summary) == (whole.total_found, whole.summary)
        assert cut.truncated
        assert len(results) < whole.total_found
        assert results[0]["severity"] == "high"


def test_an_impact_without_end_is_walked_to_a_bound_and_says_so(worker, monkeypatch):
    whole, _ = ask(worker, "impact", "app/store:check", depth=3)
    monkeypatch.setattr(walks, "WALKED_MAX", 2)
    ended, results = ask(worker, "impact", "app/store:check", depth=3)
    assert (ended.truncated, ended.summary["complete"], ended.summary["affected"]) == (True, False, 2)
    assert "ended after 2 definitions" in ended.suggestion
    assert len(results) == 2
    assert "complete" not in whole.summary


def test_a_scope_looks_at_each_file_once_however_many_definitions_it_has(config, monkeypatch):
    calls = "".join(f"def caller_{number}():\n    hub()\n\n\n" for number in range(300))
    (config.root / "lonely.py").write_text(f"def hub():\n    pass\n\n\n{calls}")
    write_graph(config)
    publish(config)
    worker = EngineWorker("graph", config)
    worker.reload()
    looked: list[str] = []
    look = walks.Scope._file
    monkeypatch.setattr(walks.Scope, "_file", lambda scope, path: (looked.append(path), look(scope, path))[1])
    hits, _ = ask(worker, "callers", "lonely:hub", scope="*.py", depth=5)
    assert hits.total_found == 300
    assert 0 < len(looked) < 20


def test_an_edge_that_may_end_at_thousands_names_some_of_them(config):
    place = {"file": "a.go", "line": 1, "column": 0}
    nodes = [{"id": f"a.f{number}", "kind": "function", "file": "a.go"} for number in range(2_000)]
    edge = {
        "from": "a.f0",
        "type": "calls",
        "candidates": [node["id"] for node in nodes[1:]],
        "location": place,
    }
    config.graph_dir.mkdir(parents=True)
    raw = orjson.dumps({"_metadata": {"version": "1.0"}, "nodes": nodes, "edges": [edge]})
    (config.graph_dir / "code-graph.json").write_bytes(raw)
    publish(config)
    worker = EngineWorker("graph", config)
    worker.reload()
    hits, results = ask(worker, "callees", "a.f0")
    assert (hits.total_found, hits.truncated) == (1_999, True)
    assert {len(result["candidates"]) for result in results} == {CANDIDATES_MAX}
    assert all(result["more_candidates"] for result in results)
    assert all(result["node"]["id"] in result["candidates"] for result in results)
    assert "may mean something else" in hits.suggestion


def test_a_name_in_another_case_is_found_and_the_answer_says_so(worker):
    for target in ("disk.Save", "DISK.SAVE", "disk.save"):
        hits, results = ask(worker, "callers", target)
        assert [one["node"]["id"] for one in results] == ["app/main:main"]
        assert hits.target == "app/store:Disk.save"
        assert f"There is no {target!r}; read as app/store:Disk.save" in hits.suggestion


def test_context_is_cut_from_the_files_as_they_are(worker, config):
    (config.root / "app/main.py").write_text("\n\n\n\n    changed(1)\n")
    _, results = ask(worker, "callers", "Disk.save", context_lines=0)
    assert results[0]["context"] == [{"line": 5, "text": "    changed(1)"}]
    (config.root / "app/main.py").unlink()
    _, results = ask(worker, "callers", "Disk.save")
    assert results[0]["context"] == []


def test_nothing_outside_the_root_is_read(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (root / "link.py").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(root / "pipe.py")
    sources = Sources(root)
    for path in (
        "../secret.txt",
        str(tmp_path / "secret.txt"),
        "link.py",
        "pipe.py",
        ".",
        "a/../../secret.txt",
    ):
        assert sources.lines(path, 1, 3) == [], path


def test_a_graph_file_of_another_program_is_served(config):
    config.graph_dir.mkdir(parents=True)
    location = {"file": "internal/embed/local.go", "line": 16, "column": 0}
    graph = {
        "_metadata": {"version": "1.0", "node_count": 2, "edge_count": 1, "more": 1},
        "nodes": [
            {
                "id": "embed.Provider",
                "kind": "interface",
                "file": "internal/embed/provider.go",
                "start_line": 20,
                "end_line": 39,
            },
            {
                "id": "embed.localProvider",
                "kind": "struct",
                "file": "internal/embed/local.go",
                "start_line": 16,
                "end_line": 22,
            },
        ],
        "edges": [
            {
                "from": "embed.localProvider",
                "to": "embed.Provider",
                "type": "implements",
                "location": location,
            }
        ],
    }
    (config.graph_dir / "code-graph.json").write_bytes(orjson.dumps(graph))
    publish(config)
    worker = EngineWorker("graph", config)
    worker.reload()
    assert ids(worker, "implementations", "embed.Provider") == ["embed.localProvider"]


@pytest.mark.parametrize(
    "damage", [b"", b"[]", b'{"nodes": 1}', b'{"nodes": [{}], "edges": []}', b"\xff\xfe"]
)
def test_a_damaged_graph_file_leaves_the_served_one_and_is_named(config, worker, damage):
    path = next(config.graph_dir.glob("*.json"))
    path.write_bytes(damage)
    generation, warnings = publish(config)
    worker.reload()
    assert ids(worker, "callers", "Disk.save") == ["app/main:main"]
    assert any(path.name in text for text in warnings), generation


def test_a_changed_graph_file_is_a_new_generation_and_an_unchanged_one_is_not(config, worker):
    before, _ = publish(config)
    assert publish(config)[0].number == before.number
    (config.root / "lonely.py").write_text("def nobody():\n    somebody()\n\n\ndef somebody(): ...\n")
    write_graph(config)
    assert publish(config)[0].number > before.number
    worker.reload()
    assert ids(worker, "callers", "somebody") == ["lonely:nobody"]


def chunk(path, first, last):
    place = {"file_path": path, "start_line": first, "end_line": last}
    return {"id": f"{path}-{first}", "chunk_type": "code", "text": "x", "metadata": place}


def test_rows_know_how_many_other_files_refer_to_them(config):
    chunks = [chunk("app/store.py", 1, 8), chunk("app/store.py", 9, 12), chunk("app/main.py", 1, 12)]
    chunks += [chunk("tests/test_main.py", 1, 5), chunk("README.md", 1, 3)]
    (config.chunks_dir / "a.json").write_bytes(orjson.dumps({"_metadata": {}, "chunks": chunks}))

    def counted():
        publish(config)
        rows = open_rows(read_current(config.index_dir), config.index_dir)
        live = np.flatnonzero(rows.live)
        counts = zip(*(rows.columns[name][live].tolist() for name in COUNTS), strict=True)
        return dict(zip(rows.ids(live), counts, strict=True))

    assert set(counted().values()) == {(0, 0)}
    write_graph(config)
    before = {
        "app/store.py-1": (1, 1),  # Disk, in app/main.py; Store, in this file only, counts for nothing
        "app/store.py-9": (1, 1),
        "app/main.py-1": (1, 1),
        "tests/test_main.py-1": (0, 0),
        "README.md-1": (0, 0),
    }
    assert counted() == before
    (config.root / "lonely.py").write_text("from app.store import check\n\n\ndef nobody():\n    check(1)\n")
    write_graph(config)
    assert counted() == before | {"app/store.py-1": (1, 2), "app/store.py-9": (2, 2)}


def test_a_damaged_graph_segment_is_made_again_with_the_counts(config, worker):
    other = config.graph_dir / "other.json"
    other.write_bytes(orjson.dumps({"nodes": [], "edges": []}))
    before, _ = publish(config)
    (config.index_dir / "segments" / before.graph["other.json"]).write_bytes(b"no segment")
    (config.root / "lonely.py").write_text("\n\n\ndef nobody():\n    pass\n")
    write_graph(config)
    after, _ = publish(config)
    assert after.number > before.number
    assert before.references
    assert after.references
    made = (config.index_dir / "segments" / after.graph["other.json"]).read_bytes()
    assert made != b"no segment"


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


def test_of_many_matches_on_one_line_only_those_shown_are_located(worker, config, monkeypatch):
    (config.root / "lonely.py").write_text(f"x = [{', '.join('check(1)' for _ in range(5_000))}]\n")
    located: list[object] = []
    shown = pattern_search._shown
    monkeypatch.setattr(pattern_search, "_shown", lambda *match: (located.append(match), shown(*match))[1])
    hits, results = pattern(worker, "check($A)", paths=("lonely.py",), limit=10)
    assert (hits.total_found, hits.truncated, len(results), len(located)) == (5_000, True, 10, 10)


def test_a_file_that_is_too_large_for_patterns_is_named(worker, config, monkeypatch):
    monkeypatch.setattr(pattern_search, "FILE_CHARS_MAX", (config.root / "app/store.py").stat().st_size - 1)
    hits, results = pattern(worker, "check($WHAT)")
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
    ("target", "meant"),
    [
        ("Disk.save()", "app/store:Disk.save"),
        ("Disk#save", "app/store:Disk.save"),
        ("(*Disk).save", "app/store:Disk.save"),
        ("store.(*Disk).save", "app/store:Disk.save"),
        ("Disk->save(item)", "app/store:Disk.save"),
        ("Disk<T>::save", "app/store:Disk.save"),
        ("Disk[str, int].save", "app/store:Disk.save"),
        ("def check(item):", "app/store:check"),
        ("self.check(item)", "app/store:check"),
        ("`check`", "app/store:check"),
        ("_ZN4Disk4saveEv", "app/store:Disk.save"),
        ("store.py:8", "app/store:Disk.save"),
        ("./app/store.py:8:3", "app/store:Disk.save"),
        ("app\\store.py:8", "app/store:Disk.save"),
        ("/somewhere/else/app/store.py#L8", "app/store:Disk.save"),
        ('  File "/srv/app/store.py", line 8, in save', "app/store:Disk.save"),
        ("    at Disk.save (/srv/app/store.py:8:11)", "app/store:Disk.save"),
        ("store.py", "app/store"),
        ("./app/store.py", "app/store"),
        ("store.py:Disk.save", "app/store:Disk.save"),
        ("app/store.py::Disk::save", "app/store:Disk.save"),
    ],
)
def test_a_target_is_understood_in_any_spelling(worker, target, meant):
    hits, _ = ask(worker, "callees", target)
    assert hits.target == meant
    assert "There is no" not in hits.suggestion


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("disk.save", "app/store:Disk.save"),
        ("DISK.SAVE", "app/store:Disk.save"),
        ("store.disk.Save()", "app/store:Disk.save"),
        ("d.check", "app/store:check"),
        ("os.path.check(item)", "app/store:check"),
        ("test_Main", "tests/test_main:test_main"),
        ("testMain", "tests/test_main:test_main"),
    ],
)
def test_a_guess_at_a_target_says_what_it_was_read_as(worker, target, meant):
    hits, _ = ask(worker, "callees", target)
    assert hits.target == meant
    assert hits.suggestion.startswith(f"There is no {target!r}; read as {meant}.")


def test_a_guess_that_may_be_several_lists_them(worker):
    hits, results = ask(worker, "callers", "s.save")
    assert results == []
    assert hits.candidates == ("app/store:Disk.save", "app/store:Store.save")
    assert "ask again with one of" in hits.suggestion


def test_a_line_outside_of_all_definitions_means_the_file(worker):
    assert ask(worker, "dependents", "app/store.py:4")[0].target == "app/store"


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
    assert ("read as" in hits.suggestion) == (path != "./app")
