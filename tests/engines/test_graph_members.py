"""Methods in other files than their types."""

import pytest

from tests.engines.small_graph import ask, ids, serve_graph

SPREAD = [
    ("base:Saver", "interface", "base.go"),
    ("base:Saver.save", "method", "base.go"),
    ("disk:Disk", "struct", "disk.go"),
    ("more:Disk.save", "method", "more.go"),
    ("more:Disk.sync", "method", "more.go"),
    ("other/disk:Disk", "struct", "other/disk.go"),
    ("run:run", "function", "run.go"),
    ("run:flush", "function", "run.go"),
]
SPREAD_EDGES = [
    ("disk:Disk", "base:Saver", "implements"),
    ("run:run", "base:Saver.save", "calls"),
    ("more:Disk.sync", "run:flush", "calls"),
]


@pytest.mark.parametrize(
    ("operation", "target", "expected"),
    [
        ("callers", "Disk.save", ["run:run"]),
        ("implementations", "Saver.save", ["more:Disk.save"]),
        ("impact", "Saver.save", ["more:Disk.save", "run:run"]),
        ("impact", "Disk.save", ["base:Saver.save", "run:run"]),
        ("callees", "disk:Disk", ["run:flush"]),
        ("callees", "other/disk:Disk", []),
        ("callees", "disk.go", []),
    ],
)
def test_a_method_in_another_file_than_its_type_belongs_to_it(config, operation, target, expected):
    assert ids(serve_graph(config, SPREAD, SPREAD_EDGES), operation, target) == expected


@pytest.mark.parametrize(
    ("handle", "expected"), [("b/h:Handle", ["e:end"]), ("a/h:Handle", []), ("d:Gone", [])]
)
def test_a_method_is_of_the_type_that_its_file_refers_to_and_else_of_none(config, handle, expected):
    nodes = [
        ("a/h:Handle", "struct", "a/h.rs"),
        ("b/h:Handle", "struct", "b/h.rs"),
        ("c", "module", "c.rs"),
        ("c:Handle.stop", "method", "c.rs"),
        ("d:Gone", "struct", "d.rs"),
        ("f:Handle.halt", "method", "f.rs"),
        ("e:end", "function", "e.rs"),
        ("e:close", "function", "e.rs"),
    ]
    edges = [
        ("c:Handle.stop", "e:end", "calls"),
        ("f:Handle.halt", "e:close", "calls"),
        ("c", "b/h:Handle", "imports", "c.rs"),
    ]
    assert ids(serve_graph(config, nodes, edges), "callees", handle) == expected


def test_overloads_of_an_overridden_method_are_called_by_dispatch_too(config):
    nodes = [(f"a:{name}", "class", "a.java") for name in ("Base", "Disk")]
    nodes += [(f"a:{name}", "method", "a.java") for name in ("Base.save", "Base.save~2", "Disk.save")]
    nodes += [("c:one", "function", "c.java"), ("c:two", "function", "c.java")]
    edges = [("a:Disk", "a:Base", "extends")]
    edges += [("c:one", "a:Base.save", "calls"), ("c:two", "a:Base.save~2", "calls")]
    hits, results = ask(serve_graph(config, nodes, edges), "callers", "Disk.save")
    assert [(row["node"]["id"], row["via"]) for row in results] == [
        ("c:one", "a:Base.save"),
        ("c:two", "a:Base.save"),
    ]
    assert "come last: 2 through a:Base.save." in hits.suggestion


@pytest.mark.parametrize(("kind", "edge"), [("trait", "implements"), ("interface", "implements")])
def test_an_implementer_that_calls_its_interface_calls_another_implementation(config, kind, edge):
    nodes = [("a:Read", kind, "a.rs"), ("a:Read.poll", "method", "a.rs")]
    nodes += [(f"b:{name}", "struct", "b.rs") for name in ("Disk", "Buffered")]
    nodes += [(f"b:{name}.poll", "method", "b.rs") for name in ("Disk", "Buffered")]
    edges = [(f"b:{name}", "a:Read", edge) for name in ("Disk", "Buffered")]
    edges += [("b:Buffered.poll", "a:Read.poll", "calls")]  # self.inner.poll()
    worker = serve_graph(config, nodes, edges)
    assert ids(worker, "callers", "Disk.poll") == ["b:Buffered.poll"]


@pytest.mark.parametrize(
    "target", ["Disk::save", "disk.h:Disk.save", "disk:Disk.save", "shop::Disk::save", "src/disk.cc:1"]
)
def test_the_declaration_and_the_definition_of_a_method_are_one_target(config, target):
    scope = "shop.Disk" if "shop" in target else "Disk"
    nodes = [
        ("src/disk.h", "module", "src/disk.h"),
        (f"src/disk.h:{scope}", "class", "src/disk.h"),
        (f"src/disk.h:{scope}.save", "method", "src/disk.h"),
        ("src/disk", "module", "src/disk.cc"),
        (f"src/disk:{scope}.save", "method", "src/disk.cc"),
        ("src/run:run", "function", "src/run.cc"),
        ("src/run:check", "function", "src/run.cc"),
    ]
    edges = [
        ("src/run:run", f"src/disk:{scope}.save", "calls"),
        ("src/run:check", f"src/disk.h:{scope}.save", "calls"),
        ("src/disk", "src/disk.h", "imports", "src/disk.cc"),
    ]
    hits, _ = ask(worker := serve_graph(config, nodes, edges), "callers", target)
    assert ids(worker, "callers", target) == ["src/run:run", "src/run:check"]
    assert not hits.candidates


def test_a_call_of_a_base_that_is_defined_outside_of_its_type_may_reach_what_overrides_it(config):
    nodes = [
        ("base.h:Base", "class", "base.h"),
        ("base.h:Base.save", "method", "base.h"),
        ("base:Base.save", "method", "base.cc"),
        ("disk.h:Disk", "class", "disk.h"),
        ("disk.h:Disk.save", "method", "disk.h"),
        ("run:run", "function", "run.cc"),
    ]
    edges = [("disk.h:Disk", "base.h:Base", "extends"), ("run:run", "base:Base.save", "calls")]
    assert ids(serve_graph(config, nodes, edges), "callers", "Disk::save") == ["run:run"]
