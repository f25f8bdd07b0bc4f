"""The graph engine: bounded walks, overloads and packages, context inside the root only."""

from __future__ import annotations

import os
import sys

import orjson
import pytest

from cortex.engines.graph import walks
from cortex.engines.graph.arrays import CANDIDATES_MAX, Names
from cortex.engines.graph.lookup.targets import Targets
from cortex.engines.graph.sources import Sources
from cortex.system.errors import BadRequest
from cortex.system.process import allocator
from tests.engines.small_graph import ask, ids, open_graph, publish, serve_files, serve_graph, write_graph


def test_overloads_of_one_thing_are_not_unsure(config):
    nodes = [("a:f", "function", "a.cs"), ("a:f~2", "function", "a.cs"), ("b:f", "function", "b.cs")]
    nodes += [("c:one", "function", "c.cs"), ("c:two", "function", "c.cs")]
    serve_graph(config, nodes)
    data = orjson.loads((config.graph_dir / "code-graph.json").read_bytes())
    place = {"file": "c.cs", "line": 1, "column": 0}
    data["edges"] = [
        {"from": "c:one", "to": "", "type": "calls", "location": place, "candidates": ["a:f", "a:f~2"]},
        {"from": "c:two", "to": "", "type": "calls", "location": place, "candidates": ["a:f", "b:f"]},
    ]
    (config.graph_dir / "code-graph.json").write_bytes(orjson.dumps(data))
    publish(config)
    worker = open_graph(config)
    hits, results = ask(worker, "impact", "a:f")
    assert {r["node"]["id"]: r["severity"] for r in results} == {"c:one": "high", "c:two": "medium"}
    assert "In 1 of these 2 calls the receiver's type is unknown" in hits.suggestion
    assert results[0]["candidates"] == ["a:f", "a:f~2"]


def test_in_go_the_folder_before_a_name_is_its_package_and_not_a_file(config):
    text = "package {}\n\ntype Backend struct{{}}\n\nfunc (b Backend) Run() {{}}\n"
    paths = ("in/backend/backend.go", "in/backend/azure/backend.go", "in/backend/consul/backend.go")
    worker = serve_files(config, {path: text.format(path.split("/")[-2]) for path in paths})
    for target, meant in (
        ("backend.Backend", "in/backend/backend:Backend"),
        ("azure.Backend", "in/backend/azure/backend:Backend"),
        ("consul.Backend.Run", "in/backend/consul/backend:Backend.Run"),
    ):
        _, (row,) = ask(worker, "path", target, to=target)
        assert row["node"]["id"] == meant
    hits, _ = ask(worker, "path", "Backend", to="Backend")
    assert hits.ambiguous


def test_the_package_of_a_go_name_may_have_capitals_and_a_main_is_in_any_folder(config):
    text = "package {}\n\nfunc New() {{}}\n"
    files = {f"cmd/{name}/main.go": text.format("main") for name in ("main", "one", "two")}
    files |= {path: text.format("x") for path in ("backend/backend.go", "local/backend.go")}
    files["p/backend.py"] = "def New(): ...\n"
    worker = serve_files(config, files)
    hits, _ = ask(worker, "callers", "main.New")
    assert list(hits.candidates) == ["cmd/main/main:New", "cmd/one/main:New", "cmd/two/main:New"]
    hits, _ = ask(worker, "callers", "Backend.New")
    assert list(hits.candidates) == ["backend/backend:New", "p/backend:New"]


def test_the_nearest_names_of_an_unknown_one_are_like_it(config):
    text = "def go_string(): ...\n\n\ndef inspecting(): ...\n\n\ndef absolute_address(): ...\n"
    worker = serve_files(config, {"a.py": text})
    hits, _ = ask(worker, "callers", "no_such_thing")
    assert not hits.candidates
    assert "Nearest" not in hits.suggestion
    hits, _ = ask(worker, "callers", "absolute_adress")
    assert list(hits.candidates) == ["a:absolute_address"]


def test_the_only_candidate_of_a_platforms_name_is_unsure(config):
    text = "export class Feed {\n  enqueue(x: string) {}\n}\nexport function run(x: any) {\n  x.y.enqueue('');\n}\n"
    worker = serve_files(
        config, {"a.ts": text, "b.ts": "import { run } from './a';\nexport const go = () => run(1);\n"}
    )
    hits, (row,) = ask(worker, "callers", "Feed.enqueue")
    assert (row["node"]["id"], row["candidates"]) == ("a:run", ["a:Feed.enqueue"])
    assert "or one and a type of the platform" in hits.suggestion
    _, results = ask(worker, "impact", "Feed.enqueue")
    assert [row["severity"] for row in results] == ["medium"]
    assert ask(worker, "path", "go", to="Feed.enqueue")[1] == []


def test_an_object_literal_is_shown_where_it_is_given(config):
    files = {
        "factory.ts": "export interface Factory { make(): string }\nexport function use(f: Factory) {}\n",
        "a.ts": (
            "import { Factory, use } from './factory';\nexport function give() {\n"
            "  return use({ make: () => '' });\n}\nexport const zero: Factory = {\n  make() { return ''; },\n};\n"
        ),
    }
    worker = serve_files(config, files)
    _, results = ask(worker, "implementations", "Factory", context_lines=0)
    rows = {row["node"]["id"]: row["context"][0]["text"].strip() for row in results}
    assert rows == {"a:give": "return use({ make: () => '' });", "a:zero": "export const zero: Factory = {"}
    assert [row["node"]["id"] for row in ask(worker, "implementations", "Factory.make")[1]] == ["a:zero.make"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "a.swift",
            "protocol Runner {\n  func run()\n}\nextension Int: Runner {\n  func run() {}\n}\nextension Bool: Runner {}\n",
        ),
        (
            "src/lib.rs",
            "trait Runner {\n  fn run(&self) {}\n}\nimpl Runner for i8 {\n  fn run(&self) {}\n}\nimpl Runner for bool {}\n",
        ),
    ],
)
def test_an_implementation_for_a_type_from_outside_is_not_given_anywhere(config, path, text):
    worker = serve_files(config, {path: text})
    for target, lines in (("Runner", [4, 7]), ("Runner.run", [5])):
        _, results = ask(worker, "implementations", target)
        assert [row["location"]["line"] for row in results] == lines
        assert not [row for row in results if "given" in row]


def test_a_call_of_a_function_for_several_systems_is_one_of_them_and_no_mock(config):
    files = {
        "port.h": "int port_open(const char *path);\n",
        "common.c": '#include "port.h"\nint port_both(void) { return port_open("x"); }\n',
        "unix/port.c": '#include "../port.h"\nint port_open(const char *path) { return path ? 1 : 0; }\n',
        "win/port.c": (
            '#include "../port.h"\nint port_open(const char *path) { return 2; }\n'
            'int port_win_use(void) { return port_open("NUL"); }\n'
        ),
        "test/mock.c": '#include "../port.h"\nint port_open(const char *path) { return 3; }\n',
        "test/test_port.c": '#include "../port.h"\nint test_port(void) { return port_open("x"); }\n',
    }
    worker = serve_files(config, files)
    both, win, test = (
        [(row["node"]["id"], row.get("alternatives")) for row in ask(worker, "callees", name)[1]]
        for name in ("port_both", "port_win_use", "test_port")
    )
    assert both == [("unix/port:port_open", 2), ("win/port:port_open", 2)]
    assert win == [("win/port:port_open", None)]
    assert test == [("test/mock:port_open", None)]


def test_a_ruby_class_reopened_in_other_files_is_one_target(config):
    files = ["lib/a.rb", "lib/b.rb"]
    nodes = [(f"{file[:-3]}:Shop.Store", "class", file) for file in files]
    nodes += [("lib/c:Disk", "class", "lib/c.rb"), ("lib/d:Tape", "class", "lib/d.rb")]
    edges = [("lib/c:Disk", "lib/a:Shop.Store", "extends"), ("lib/d:Tape", "lib/b:Shop.Store", "extends")]
    assert sorted(ids(serve_graph(config, nodes, edges), "implementations", "Shop::Store")) == [
        "lib/c:Disk",
        "lib/d:Tape",
    ]


def test_partial_csharp_types_are_one_target_in_a_folder(config):
    files = ["Shop/Store.cs", "Shop/Store.Async.cs"]
    nodes = [(f"{file[:-3]}:Store", "class", file) for file in files]
    nodes += [(f"{file[:-3]}:Store.Save", "method", file) for file in files]
    nodes += [("Other/Store:Store", "class", "Other/Store.cs")]
    nodes += [("c:Disk", "class", "c.cs"), ("d:Tape", "class", "d.cs"), ("d:Tape.Go", "method", "d.cs")]
    edges = [("c:Disk", "Shop/Store:Store", "extends"), ("d:Tape", "Shop/Store.Async:Store", "extends")]
    edges += [("d:Tape.Go", f"{file[:-3]}:Store.Save", "calls") for file in files]
    worker = serve_graph(config, nodes, edges)
    hits, _ = ask(worker, "implementations", "Store")
    assert hits.candidates == ("Other:Store", "Shop:Store")
    assert sorted(ids(worker, "implementations", "Shop:Store")) == ["c:Disk", "d:Tape"]
    assert len(ids(worker, "implementations", "Shop/Store:Store")) == 1
    assert ask(worker, "callers", "Store.Save")[0].candidates == ()


def test_names_of_ruby_that_end_in_a_mark_are_targets(config):
    nodes = [(f"lib/a:Store.{name}", "method", "lib/a.rb") for name in ("save", "save!", "full?", "name=")]
    worker = serve_graph(config, nodes)
    for name in ("save!", "full?"):
        for target in (
            name,
            f"Store#{name}",
            f"Store.{name}(1)",
            f"store.{name}",
            f"def {name}(item)",
            f"lib/a.rb:Store.{name}",
        ):
            assert ask(worker, "callers", target)[0].target == f"lib/a:Store.{name}", target


def test_callers_of_a_type_suggest_the_operation_for_its_users(config):
    worker = serve_graph(config, [("a:Store", "struct", "a.go"), ("a:run", "function", "a.go")])
    assert "type_usages lists its uses" in ask(worker, "callers", "Store")[0].suggestion
    assert "type_usages" not in ask(worker, "callers", "run")[0].suggestion


def test_callers_come_before_functions_that_pass_it_on(config):
    nodes = [(f"a:{name}", "function", "a.py") for name in ("early", "late", "made")]
    edges = [("a:early", "a:made", "references"), ("a:late", "a:made", "calls")]
    worker = serve_graph(config, nodes, edges)
    _, results = ask(worker, "callers", "made")
    assert [(row["node"]["id"], row["edge"]) for row in results] == [
        ("a:late", "calls"),
        ("a:early", "references"),
    ]
    assert ids(worker, "dependents", "made") == ["a:late", "a:early"]
    _, results = ask(worker, "impact", "made")
    assert [(row["impact_type"], row["severity"]) for row in results] == [
        ("caller", "high"),
        ("reference", "medium"),
    ]
    assert ids(worker, "callees", "early") == []


def test_a_go_package_excludes_files_of_packages_below_it(config):
    nodes = [(".", "package", "a.go"), ("a", "module", "a.go"), ("a:Run", "function", "a.go")]
    nodes += [
        ("doc", "package", "doc/b.go"),
        ("doc/b", "module", "doc/b.go"),
        ("doc/b:Make", "function", "doc/b.go"),
    ]
    worker = serve_graph(config, nodes, [("doc/b", ".", "imports"), ("doc/b:Make", "a:Run", "calls")])
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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what is mapped")
def test_an_idle_graph_sets_its_tables_aside_and_answers_as_before(own_worker, config, monkeypatch):
    monkeypatch.setattr(allocator, "ASIDE_BYTES", 0)

    def answers():
        operations = ("callers", "callees", "implementations", "dependents", "impact")
        return [
            ask(own_worker, operation, target)[1]
            for operation in operations
            for target in ("check", "Store.save")
        ]

    before = answers()
    assert any(before)
    assert not files_aside(config)
    allocator.forget()
    set_aside = files_aside(config)
    assert set_aside
    assert answers() == before
    allocator.forget()
    assert files_aside(config) == set_aside


def files_aside(config):
    """Return what this process maps of files without a name in the folder of the graph."""
    lines = allocator.MAPS.read_text().splitlines()
    return {line for line in lines if f"{config.index_dir}/segments/" in line and line.endswith("(deleted)")}


def test_an_empty_answer_gives_the_reason(worker):
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


def test_a_distant_result_names_its_intermediate_step(worker):
    _, results = ask(worker, "callers", "check", depth=10)
    assert {r["node"]["id"]: r.get("via") for r in results} == {
        "app/main:main": None,
        "app/store:Store.save": None,
        "app/main:helper": "app/main:main",
        "app/store:Disk.save": "app/store:Store.save",
        "tests/test_main:test_main": "app/main:main",
    }
    _, results = ask(worker, "callees", "test_main:test_main", depth=2)
    assert {r["node"]["id"]: r.get("via") for r in results if r["depth"] == 2}["app/main:helper"] == (
        "app/main:main"
    )
    _, results = ask(worker, "path", "test_main:test_main", to="check")
    assert not any("via" in r for r in results)


def test_an_answer_cut_by_limits_is_marked_truncated(worker):
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


def test_a_path_by_calls_has_at_most_depth_steps_and_no_other_edge(config):
    names = ["a:one", "a:two", "a:three", "a:four"]
    edges = [(*names[:2], "calls"), (*names[1:3], "calls"), (*names[2:], "references")]
    worker = serve_graph(config, [(name, "function", "a.py") for name in names], edges)
    assert ids(worker, "path", "a:one", to="a:four") == names
    assert ids(worker, "path", "a:one", to="a:four", by_calls=True, depth=9) == []
    assert ids(worker, "path", "a:one", to="a:three", by_calls=True, depth=2) == names[:3]
    assert ids(worker, "path", "a:one", to="a:three", by_calls=True, depth=1) == []


def test_an_impact_has_a_type_and_a_severity(worker):
    hits, results = ask(worker, "impact", "app/store:Store", depth=2)
    by_id = {r["node"]["id"]: (r["impact_type"], r["severity"], r["depth"]) for r in results}
    assert by_id["app/store:Disk"] == ("subtype", "high", 1)
    assert by_id["app/main:main"] == ("caller", "medium", 2)
    assert hits.summary["by_severity"]["high"] >= 1


def test_an_impact_counts_everything_and_shows_the_worst(worker):
    full, _ = ask(worker, "impact", "app/store:check", depth=3)
    assert full.total_found == full.summary["affected"] > 2
    for limits in ({"max_results": 1}, {"max_per_level": 1}, {"max_results": 2}):
        cut, results = ask(worker, "impact", "app/store:check", depth=3, **limits)
        assert (cut.total_found, cut.summary) == (full.total_found, full.summary)
        assert cut.truncated
        assert len(results) < full.total_found
        assert results[0]["severity"] == "high"


def test_an_endless_impact_stops_at_a_bound_and_is_marked_incomplete(worker, monkeypatch):
    full, _ = ask(worker, "impact", "app/store:check", depth=3)
    monkeypatch.setattr(walks, "WALKED_MAX", 2)
    ended, results = ask(worker, "impact", "app/store:check", depth=3)
    assert (ended.truncated, ended.summary["complete"], ended.summary["affected"]) == (True, False, 2)
    assert "ended after 2 definitions" in ended.suggestion
    assert len(results) == 2
    assert "complete" not in full.summary


def test_a_scope_checks_each_file_once_for_all_its_definitions(config, monkeypatch):
    calls = "".join(f"def caller_{number}():\n    hub()\n\n\n" for number in range(300))
    (config.root / "lonely.py").write_text(f"def hub():\n    pass\n\n\n{calls}")
    write_graph(config)
    publish(config)
    worker = open_graph(config)
    looked: list[str] = []
    look = walks.WalkScope._file_flags
    monkeypatch.setattr(
        walks.WalkScope, "_file_flags", lambda scope, path: (looked.append(path), look(scope, path))[1]
    )
    hits, _ = ask(worker, "callers", "lonely:hub", scope="*.py", depth=5)
    assert hits.total_found == 300
    assert 0 < len(looked) < 20


def test_a_target_of_successive_queries_is_resolved_once(own_worker, monkeypatch):
    looked: list[str] = []
    find = Targets.find

    def counted(self, target, *extra, **more):
        looked.append(target)
        return find(self, target, *extra, **more)

    monkeypatch.setattr(Targets, "find", counted)
    for operation in ("callees", "callers", "implementations"):
        ask(own_worker, operation, "app/store:Disk.save")
    assert len(looked) == 2  # implementations prefer types, so they resolve anew
    for start in ("app/store:Disk", "app/store:Disk.save"):
        ask(own_worker, "path", start, to="app/store:Disk.save")
    assert looked[2:] == ["app/store:Disk"]


def test_an_unknown_path_is_looked_up_without_reading_those_of_all_files(config, monkeypatch):
    files = [f"src/file{number}.py" for number in range(200)]
    worker = serve_graph(config, [(file.removesuffix(".py"), "module", file) for file in files])
    ask(worker, "dependents", "lib/one", bare=True)  # makes the tables of paths
    numbers: list[int] = []
    read = Names.__getitem__
    monkeypatch.setattr(
        Names, "__getitem__", lambda self, number: numbers.append(number) or read(self, number)
    )
    assert ask(worker, "dependents", "lib/two", bare=True)[1] == []
    assert len(numbers) < len(files)


def test_an_edge_with_thousands_of_candidates_lists_some(config):
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
    worker = open_graph(config)
    hits, results = ask(worker, "callees", "a.f0")
    assert (hits.total_found, hits.truncated) == (1_999, True)
    assert {len(result["candidates"]) for result in results} == {CANDIDATES_MAX}
    assert all(result["more_candidates"] for result in results)
    assert all(result["node"]["id"] in result["candidates"] for result in results)
    assert "several definitions have the name" in hits.suggestion


def test_context_is_cut_from_the_files_as_they_are(own_worker, config):
    (config.root / "app/main.py").write_text("\n\n\n\n    changed(1)\n")
    _, results = ask(own_worker, "callers", "Disk.save", context_lines=0)
    assert results[0]["context"] == [{"line": 5, "text": "    changed(1)"}]
    (config.root / "app/main.py").unlink()
    _, results = ask(own_worker, "callers", "Disk.save")
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


def _overridden(config):
    nodes = [("a:Saver", "interface", "a.go"), ("a:Saver.save", "method", "a.go")]
    nodes += [("b:Disk", "struct", "b.go"), ("b:Disk.save", "method", "b.go"), ("c:run", "function", "c.go")]
    edges = [("b:Disk", "a:Saver", "implements"), ("c:run", "a:Saver.save", "calls")]
    return serve_graph(config, nodes, edges)


def test_a_method_that_is_called_through_an_interface_lists_those_calls(config):
    hits, (result,) = ask(_overridden(config), "callers", "Disk.save")
    assert (result["node"]["id"], result["edge"]) == ("c:run", "calls")
    assert (result["confidence"], result["via"]) == ("dispatch", "a:Saver.save")
    assert "1 through a:Saver.save" in hits.suggestion


def test_calls_by_dispatch_come_after_the_direct_ones_without_those_of_other_overriders(config):
    nodes = [("a:Saver", "class", "a.py"), ("a:Saver.save", "method", "a.py")]
    nodes += [(f"b:{name}", "class", "b.py") for name in ("Disk", "Tape")]
    nodes += [(f"b:{name}.save", "method", "b.py") for name in ("Disk", "Tape")]
    nodes += [(f"c:{name}", "function", "c.py") for name in ("any", "both", "direct")]
    edges = [(f"b:{name}", "a:Saver", "extends") for name in ("Disk", "Tape")]
    edges += [(f"b:{name}.save", "a:Saver.save", "calls") for name in ("Disk", "Tape")]  # super().save()
    edges += [("c:any", "a:Saver.save", "calls"), ("c:both", "a:Saver.save", "calls")]
    edges += [("c:both", "b:Disk.save", "calls"), ("c:direct", "b:Disk.save", "calls")]
    worker = serve_graph(config, nodes, edges)
    hits, results = ask(worker, "callers", "Disk.save")
    callers = [(row["node"]["id"], row.get("via", "")) for row in results]
    assert callers == [("c:both", ""), ("c:direct", ""), ("c:any", "a:Saver.save")]
    pages = [ask(worker, "callers", "Disk.save", max_results=1, offset=at) for at in range(3)]
    assert [row["node"]["id"] for _, (row,) in pages] == [name for name, _ in callers]
    assert [page.next_offset for page, _ in pages] == [1, 2, 0]
    assert {page.total_found for page, _ in pages} == {hits.total_found} == {3}
    assert ask(worker, "callers", "Disk.save", scope="b.py")[1] == []


@pytest.mark.parametrize(
    ("kind", "edge", "name"), [("struct", "embeds", "save"), ("class", "extends", "__init__")]
)
def test_embedded_structs_and_constructors_are_not_called_by_dispatch(config, kind, edge, name):
    nodes = [(f"a:{type_name}", kind, "a.py") for type_name in ("Upper", "Lower")]
    nodes += [(f"a:{type_name}.{name}", "method", "a.py") for type_name in ("Upper", "Lower")]
    nodes += [("c:run", "function", "c.py")]
    worker = serve_graph(config, nodes, [("a:Lower", "a:Upper", edge), ("c:run", f"a:Upper.{name}", "calls")])
    hits, results = ask(worker, "callers", f"Lower.{name}")
    assert results == []
    assert "dispatch" not in hits.suggestion


@pytest.mark.parametrize(("target", "other"), [("Disk.save", "a:Saver.save"), ("Saver.save", "b:Disk.save")])
def test_an_impact_reaches_overridden_and_overriding_methods(config, target, other):
    hits, results = ask(_overridden(config), "impact", target)
    assert (results[0]["node"]["id"], results[0]["impact_type"]) == (other, "override")
    assert hits.summary["by_type"]["override"] == 1


def test_an_overriding_method_is_shown_at_its_definition(config):
    worker = _overridden(config)
    (config.root / "b.go").write_text("def save(self): ...\n")
    _, results = ask(worker, "impact", "Saver.save", include_context=True, context_lines=0)
    assert results[0]["node"]["id"] == "b:Disk.save"
    assert results[0]["context"] == [{"line": 1, "text": "def save(self): ..."}]


def test_implementations_are_of_the_type_before_a_method_of_its_name(config):
    nodes = [
        ("a:Saver", "interface", "a.go"),
        ("b:Disk.Saver", "method", "b.go"),
        ("b:Disk", "struct", "b.go"),
    ]
    worker = serve_graph(config, nodes, [("b:Disk", "a:Saver", "implements")])
    assert ids(worker, "implementations", "Saver") == ["b:Disk"]
