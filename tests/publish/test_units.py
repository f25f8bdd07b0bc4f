"""The index of units follows the chunk files, source file by source file."""

import numpy as np
import orjson
import pytest

from cortex.engines.serving import EngineWorker
from cortex.engines.text.engine import TextEngine
from cortex.engines.text.index.unit_index import UNITS
from cortex.publish import source_files
from cortex.publish.builder import Builder, Limits
from cortex.system.errors import BadQuery
from ipc.messages import UNIT_SIGNALS, Filters, Place, UnitsAt, UnitSearch
from tests.publish.small_projects import chunk, drain, write


def code(path, number, first, *functions, **fields):
    """A chunk with a function of two lines for each (name, word)."""
    text = "\n".join(f"def {name}():\n    return {word}" for name, word in functions)
    definitions = [
        {
            "name": name,
            "kind": "function",
            "scope": "",
            "start_line": first + 2 * at,
            "end_line": first + 1 + 2 * at,
        }
        for at, (name, _) in enumerate(functions)
    ]
    metadata = {
        "file_path": path,
        "language": "python",
        "start_line": first,
        "end_line": first + 2 * len(functions) - 1,
        "definitions": definitions,
    }
    return chunk(number, text, id=f"code-{path}~{number}", metadata=metadata, **fields)


class Units:
    def __init__(self, config):
        self.worker = EngineWorker("text", config)

    def find(self, query, filters=None, limit=80):
        self.worker.reload()
        reply = self.worker.handlers[UnitSearch](UnitSearch(query, limit, filters or Filters()))
        assert reply.names == UNIT_SIGNALS
        assert reply.values.shape == (len(UNIT_SIGNALS), len(reply.units))
        return [(unit["path"], unit["symbol"]) for unit in map(orjson.loads, reply.units)]

    def at(self, *places):
        self.worker.reload()
        reply = self.worker.handlers[UnitsAt](UnitsAt(places))
        return [(unit["symbol"], unit["start"], unit["end"]) for unit in map(orjson.loads, reply.units)]


@pytest.fixture
def units(config):
    return Units(config)


def files_of(config):
    return {path.relative_to(config.index_dir) for path in config.index_dir.rglob("*") if path.is_file()}


def test_units_follow_an_edit_and_a_removal(builder, config, units):
    write(
        config,
        "a.json",
        [code("a.py", 1, 1, ("read", "alpha"), ("save", "beta")), code("a.py", 2, 5, ("drop", "gamma"))],
    )
    write(config, "b.json", [code("b.py", 3, 1, ("read", "delta"))])
    drain(builder)
    assert units.find("read") == [("b.py", "read"), ("a.py", "read")] or units.find("read") == [
        ("a.py", "read"),
        ("b.py", "read"),
    ]
    assert units.at(Place("a.py")) == [("read", 1, 2), ("save", 3, 4), ("drop", 5, 6)]
    write(
        config,
        "a.json",
        [code("a.py", 1, 1, ("read", "alpha"), ("store", "omega")), code("a.py", 2, 5, ("drop", "gamma"))],
    )
    drain(builder)
    assert units.find("beta") == units.find("save") == []
    assert units.find("omega") == [("a.py", "store")]
    assert units.find("gamma") == [("a.py", "drop")]  # of an unchanged chunk
    assert units.at(Place("a.py")) == [("read", 1, 2), ("store", 3, 4), ("drop", 5, 6)]
    (config.chunks_dir / "a.json").unlink()
    drain(builder)
    assert units.at(Place("a.py")) == []
    assert units.find("read gamma omega") == [("b.py", "read")]


def test_a_file_whose_chunks_are_in_several_chunk_files_is_replaced_as_a_whole(builder, config, units):
    write(config, "a.json", [code("a.py", 1, 1, ("read", "alpha"))])
    write(config, "b.json", [code("a.py", 2, 3, ("save", "beta"))])
    drain(builder)
    write(config, "b.json", [code("a.py", 2, 3, ("save", "gamma"))])
    drain(builder)
    assert units.at(Place("a.py")) == [("read", 1, 2), ("save", 3, 4)]
    assert units.find("alpha") == [("a.py", "read")]
    (config.chunks_dir / "b.json").unlink()
    drain(builder)
    assert units.at(Place("a.py")) == [("read", 1, 2)]


def test_views_are_no_units_and_touch_none(builder, config, units):
    view = code("a.py", 9, 1, ("read", "viewed"), chunk_type="definitions")
    write(config, "a.json", [code("a.py", 1, 1, ("read", "alpha")), view])
    drain(builder)
    assert units.find("viewed") == []
    assert units.at(Place("a.py")) == [("read", 1, 2)]


def test_only_touched_files_are_read_again(builder, config, units, monkeypatch):
    write(config, "a.json", [code(f"f{at}.py", at, 1, (f"f{at}", "alpha")) for at in range(20)])
    drain(builder)
    read = []
    plain = source_files._cut
    monkeypatch.setattr(source_files, "_cut", lambda *some: read.append(len(some[1])) or plain(*some))
    changed = [code("f3.py", 3, 1, ("f3", "beta")), code("f3.py", 30, 3, ("g3", "gamma"))]
    write(
        config,
        "a.json",
        [*changed, *(code(f"f{at}.py", at, 1, (f"f{at}", "alpha")) for at in range(20) if at != 3)],
    )
    drain(builder)
    assert read == []  # all chunks of f3.py are new, and no other file is touched
    write(
        config,
        "a.json",
        [
            changed[0],
            code("f3.py", 30, 3, ("g3", "delta")),
            *(code(f"f{at}.py", at, 1, (f"f{at}", "alpha")) for at in range(20) if at != 3),
        ],
    )
    drain(builder)
    assert read == [1]
    assert units.at(Place("f3.py")) == [("f3", 1, 2), ("g3", 3, 4)]
    assert len(units.find("alpha")) == 19


def test_merging_segments_touches_no_unit(config, units):
    builder = Builder(config, limits=Limits(segments_max=1))
    for at in range(4):
        write(config, f"{at}.json", [code(f"f{at}.py", at, 1, (f"f{at}", "alpha"))])
        drain(builder)
    assert len(builder.current.segments) == 1
    write(config, "0.json", [code("f0.py", 0, 1, ("f0", "beta")), code("f0.py", 9, 3, ("g0", "alpha"))])
    drain(builder)
    builder.close()
    assert sorted(units.find("alpha")) == [("f0.py", "g0"), *((f"f{at}.py", f"f{at}") for at in (1, 2, 3))]


def test_an_unpublished_build_leaves_no_units(config, units):
    builder = Builder(config)
    write(config, "a.json", [code("a.py", 1, 1, ("read", "alpha"))])
    drain(builder)
    write(config, "a.json", [code("a.py", 1, 1, ("read", "beta"))])
    assert builder.prepare() is not None
    builder.close()  # before CURRENT was written
    assert units.find("beta") == []
    builder = Builder(config)
    assert units.find("alpha") == [("a.py", "read")]
    drain(builder)
    builder.close()
    assert units.find("beta") == [("a.py", "read")]
    assert units.find("alpha") == []


def test_a_failed_build_of_units_is_made_again(builder, config, units, monkeypatch):
    write(config, "a.json", [code("a.py", 1, 1, ("read", "alpha"))])
    drain(builder)
    with monkeypatch.context() as patch:
        patch.setattr("cortex.engines.text.index.unit_index.find_units", lambda _: 1 / 0)
        write(config, "a.json", [code("a.py", 1, 1, ("read", "beta"))])
        with pytest.raises(ZeroDivisionError):
            builder.refresh()
    builder.close()
    restarted = Builder(config)
    drain(restarted)
    restarted.close()
    assert units.find("beta") == [("a.py", "read")]
    assert units.find("alpha") == []


@pytest.mark.parametrize("how", ["missing", "damaged"])
def test_lost_units_are_made_again_from_the_rows(config, units, how):
    builder = Builder(config)
    write(config, "a.json", [code("a.py", 1, 1, ("read", "alpha")), code("a.py", 2, 3, ("save", "beta"))])
    drain(builder)
    write(config, "a.json", [code("a.py", 1, 1, ("read", "gamma")), code("a.py", 2, 3, ("save", "beta"))])
    drain(builder)
    token = builder.current.tokens["text"]
    builder.close()
    folder = config.index_dir / "text" / UNITS / token
    path = next(path for path in folder.iterdir() if path.suffix == ".idx")
    raw = path.read_bytes()
    path.unlink()
    if how == "damaged":
        path.write_bytes(bytes([raw[0] ^ 1]) + raw[1:])
    builder = Builder(config)
    drain(builder)
    builder.close()
    assert units.at(Place("a.py")) == [("read", 1, 2), ("save", 3, 4)]
    assert sorted(units.find("gamma beta")) == [("a.py", "read"), ("a.py", "save")]


def test_the_engine_lists_and_prunes_the_files_of_units(builder, config):
    for word in ("alpha", "beta", "gamma"):
        write(config, "a.json", [code("a.py", 1, 1, ("read", word))])
        drain(builder)
    engine, token = TextEngine(config), builder.current.tokens["text"]
    folder = config.index_dir / "text" / UNITS
    assert {path.parent for path in engine.files(token)} == {folder / token, folder.parent / token}
    engine.prune({token}, older_than_s=-1)
    assert {path.name for path in folder.iterdir()} == {token, "writer"}
    assert {path.name for path in folder.parent.iterdir()} == {token, "writer", UNITS}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(paths=("src/**",)), {"src/a.py", "src/b.py"}),
        (Filters(exclude_paths=("src/**",)), {"docs/c.md", "test/d.py"}),
        (Filters(within="test"), {"test/d.py"}),
        (Filters(tags=("slow",)), {"src/b.py"}),
        (Filters(language="markdown"), {"docs/c.md"}),
        (Filters(chunk_types=("documentation",)), {"docs/c.md"}),
        (Filters(paths=("none/**",)), set()),
    ],
)
def test_filters_select_the_files(builder, config, units, filters, expected):
    document = chunk(3, "# Alpha\n\nalpha", id="doc", chunk_type="documentation")
    document["metadata"] = {
        "file_path": "docs/c.md",
        "language": "markdown",
        "start_line": 1,
        "headings": ["Alpha"],
    }
    write(
        config,
        "a.json",
        [
            code("src/a.py", 1, 1, ("read", "alpha")),
            code("src/b.py", 2, 1, ("save", "alpha"), tags=["slow"]),
            document,
            code("test/d.py", 4, 1, ("probe", "alpha")),
        ],
    )
    drain(builder)
    assert {path for path, _ in units.find("alpha", filters)} == expected


def test_each_field_has_its_own_score(builder, config, units):
    write(
        config,
        "a.json",
        [code(f"f{at}.py", at, 1, (f"f{at}", "alpha"), (f"g{at}", f"word{at}")) for at in range(9)],
    )
    write(
        config,
        "b.json",
        [code("alpha.py", 20, 1, ("alpha", "beta")), code("z.py", 21, 1, ("omega", "omega"))],
    )
    drain(builder)
    units.worker.reload()
    search = units.worker.handlers[UnitSearch]
    reply = search(UnitSearch("alpha beta", 3))
    best = dict(zip(reply.names, reply.values[:, 0].tolist(), strict=True))
    assert orjson.loads(reply.units[0])["symbol"] == "alpha"
    assert all(best[name] > 0 for name in ("body", "name", "signature"))
    assert best["owner"] == 0
    assert np.count_nonzero(reply.values[:, 1]) == 1  # in the body alone
    alone = dict(zip(reply.names, search(UnitSearch("alpha beta", 100)).values[:, 0].tolist(), strict=True))
    assert alone == pytest.approx(best, rel=1e-4)
    with pytest.raises(BadQuery):
        search(UnitSearch("  "))


def test_the_unit_of_a_line(builder, config, units):
    text = "class A:\n    x = 1\n\n    def f(self):\n        a = 1\n\n        return a\n\n\nrun()"
    definitions = [
        {"name": "A", "kind": "class", "scope": "", "start_line": 1, "end_line": 7},
        {"name": "f", "kind": "method", "scope": "A", "start_line": 4, "end_line": 7},
    ]
    metadata = {
        "file_path": "a.py",
        "language": "python",
        "start_line": 1,
        "end_line": 10,
        "definitions": definitions,
    }
    write(config, "a.json", [chunk(1, text, metadata=metadata)])
    drain(builder)
    lines = {line: units.at(Place("a.py", line)) for line in (2, 3, 6, 99)}
    assert lines == {2: [("A", 1, 7)], 3: [("A", 1, 7)], 6: [("A.f", 4, 7)], 99: []}
    assert units.at(Place("b.py", 1), Place("a.py", 5)) == [("A.f", 4, 7)]
