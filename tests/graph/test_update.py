"""The graph of an edited project equals that of a fresh read; it survives damaged and moved
files.
"""

from __future__ import annotations

import mmap
import random
import shutil
from pathlib import Path

import msgspec
import orjson
import pytest

from cortex.generation.contract import pack
from cortex.generation.manifest import Entry
from cortex.graph.facts.tables import Packed
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project
from cortex.indexer.store import graph_shards, graph_store
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.store.graph_shards import FreshFacts
from cortex.indexer.store.graph_store import GraphStore
from cortex.indexer.store.graph_tasks import GraphBuilder, GraphTask
from cortex.indexer.store.limits import LIMITS, Limits
from cortex.indexer.syntax.source import Source, decode, digest
from cortex.settings.config import Config
from cortex.system.process import allocator
from tests.drawn_examples import scaled
from tests.indexer.indexed_tree import read

PROJECTS = Path(__file__).parents[1] / "golden" / "graph"
ALL = sorted(path for path in PROJECTS.rglob("*") if path.is_file() and path.name != "EDGES")


@pytest.fixture
def config(tmp_path):
    return plant(tmp_path)


def plant(place, project=""):
    """Copy one golden project, "" for all, into a tree; return its settings."""
    shutil.copytree(PROJECTS / project, place / "tree" / project, ignore=shutil.ignore_patterns("EDGES"))
    return Config(root=place / "tree")


def entries(root):
    by_path = {}
    for path in sorted(root.rglob("*")):
        if path.is_file() and ".cortex" not in path.parts:
            raw = path.read_bytes()
            info = path.stat()
            by_path[path.relative_to(root).as_posix()] = Entry(digest(raw), info.st_size, info.st_mtime_ns)
    return by_path


def graph(config):
    """Return nodes, edges and unresolved uses as one set of lines."""
    lines = set()
    for path in config.graph_dir.glob("code-graph*.json.zst"):
        data = orjson.loads(read(path))
        metadata = data["_metadata"]
        assert (metadata["node_count"], metadata["edge_count"]) == (len(data["nodes"]), len(data["edges"]))
        lines |= {
            orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
            for item in (*data["nodes"], *data["edges"], *data["unresolved_uses"])
        }
    return lines


def fresh(config, place, limits=LIMITS):
    other = Config(root=place)
    shutil.copytree(config.root, place, ignore=shutil.ignore_patterns(".cortex"))
    GraphStore(other, limits=limits).update(entries(place), {})
    return graph(other)


EDITS = {
    "a method is renamed": ("python/shop/store.py", "def flush", "def flush_all"),
    "a base goes": ("python/shop/store.py", "class Store(Base)", "class Store"),
    "a result changes": ("python/shop/inner/deep.py", "return Deep()", "return None"),
    "a re-export changes": ("python/shop/inner/__init__.py", "Deep", "Deep as Deeper"),
    "a field's type changes": ("python/shop/store.py", "self.items: list[Item]", "self.items: list[Log]"),
    "an interface grows": ("go/store/store.go", "Save(item Item, count int) error", "Save(item Item) error"),
    "an embedded type goes": ("go/store/store.go", "\tbase\n", ""),
    "a barrel loses a name": ("typescript/lib/index.ts", 'export * from "./base";', ""),
    "an interface gets a method": (
        "typescript/lib/types.ts",
        "load(id: string): Row;",
        "load(id: string): Row; x(): void;",
    ),
    "an impl is another's": ("rust/src/store.rs", "impl Flush for Disk", "impl Flush for Item"),
    "an import is static no more": ("java/app/run/Main.java", "import static app.model.Disk.open;", ""),
    "a namespace is renamed": ("cpp/store.h", "namespace shop {", "namespace mart {"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_gives_the_graph_of_a_fresh_reading(edit, tmp_path):
    name, old, new = EDITS[edit]
    config = plant(tmp_path, name.partition("/")[0])
    store = GraphStore(config)
    store.update(entries(config.root), {})
    before = graph(config)
    path = config.root / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    store.update(entries(config.root), {})
    assert graph(config) != before
    assert graph(config) == fresh(config, tmp_path / "fresh")


@pytest.mark.parametrize("project", sorted(path.name for path in PROJECTS.iterdir()))
def test_a_file_that_goes_and_comes_back_leaves_no_trace(tmp_path, project):
    config = plant(tmp_path, project)
    store, tree = GraphStore(config), config.root
    store.update(entries(tree), {})
    before = graph(config)
    for number, path in enumerate(path for path in ALL if path.is_relative_to(PROJECTS / project)):
        copy = tree / path.relative_to(PROJECTS)
        copy.unlink()
        store.update(entries(tree), {})
        assert graph(config) == fresh(config, tmp_path / f"fresh {number}"), path
        shutil.copy(path, copy)
        store.update(entries(tree), {})
        assert graph(config) == before, path


def test_a_restart_writes_nothing_and_goes_on_from_the_facts(config):
    GraphStore(config).update(entries(config.root), {})
    restarted = GraphStore(config)
    assert restarted.update(entries(config.root), {}) == 0
    assert restarted.update(entries(config.root), {}) == 0


@pytest.mark.parametrize("damage", [b"", b"{", b'{"_metadata": {}}'])
def test_damaged_graph_files_and_facts_are_rebuilt(config, damage):
    GraphStore(config).update(entries(config.root), {})
    before = graph(config)
    for path in [*config.graph_dir.glob("*.json.zst"), *(config.graph_dir / ".facts").iterdir()]:
        path.write_bytes(damage)
    GraphStore(config).update(entries(config.root), {})
    assert graph(config) == before


def test_the_next_run_repairs_an_interrupted_one(config):
    GraphStore(config).update(entries(config.root), {})
    before = graph(config)
    (config.graph_dir / ".facts" / "state.msgpack").unlink()
    path = config.graph_dir / "code-graph.000.json.zst"
    data = orjson.loads(read(path))
    data["edges"], data["_metadata"]["edge_count"] = [], 0
    path.write_bytes(pack(path.name, orjson.dumps(data)))
    assert graph(config) != before
    GraphStore(config).update(entries(config.root), {})
    assert graph(config) == before


def test_other_processes_resolve_the_same_graph(config, tmp_path):
    limits = Limits(shard_files=8, resolve_files=1)
    wanted = fresh(config, tmp_path / "fresh", limits)
    encoded: list[bytes] = []

    def resolve(rounds) -> int:
        builder = GraphBuilder()
        encoded.extend(msgspec.msgpack.encode(task) for tasks in rounds for task in tasks)
        return sum(builder.build(msgspec.msgpack.decode(task, type=GraphTask)) for task in encoded)

    store = GraphStore(config, resolve, limits)
    store.update(entries(config.root), {})
    assert len(encoded) > 4
    assert graph(config) == wanted
    (config.root / "python/shop/store.py").write_text("def nothing():\n    pass\n")
    encoded.clear()
    store.update(entries(config.root), {})
    assert encoded
    assert graph(config) == fresh(config, tmp_path / "again", limits)
    assert not list((config.graph_dir / ".facts").glob("resolved*"))


def test_the_indexer_holds_no_project_while_other_processes_resolve_all_files(config, monkeypatch):
    built: list[Project] = []

    def build(*arguments):
        built.append(Project(*arguments))
        return built[-1]

    def resolve(rounds) -> int:
        builder = GraphBuilder()
        return sum(builder.build(task) for tasks in rounds for task in tasks)

    monkeypatch.setattr(graph_store, "Project", build)
    store = GraphStore(config, resolve, Limits(shard_files=8, resolve_files=1))
    store.update(entries(config.root), {})
    assert not built
    (config.root / "python/shop/store.py").write_text("def nothing():\n    pass\n")
    store.update(entries(config.root), {})
    assert len(built) == 1


def test_forgetting_loses_nothing(config, tmp_path):
    store = GraphStore(config)
    store.update(entries(config.root), {})
    store.forget()
    assert store.update(entries(config.root), {}) == 0
    (config.root / "go/store/store.go").write_text("package store\n\nfunc Only() {}\n")
    assert store.update(entries(config.root), {}) > 0
    store.forget()
    (config.root / "typescript/lib/index.ts").unlink()
    store.update(entries(config.root), {})
    assert graph(config) == fresh(config, tmp_path / "fresh")


def read_aside(config):
    """Return the facts of all files of a project as a long run holds them: in files."""
    fresh_facts = FreshFacts(config.graph_dir)
    for path, entry in entries(config.root).items():
        source = decode(path, (config.root / path).read_bytes())
        read_facts = facts_of(source, entry.sha256) if isinstance(source, Source) else None
        fresh_facts.add(msgspec.msgpack.encode({path: read_facts}))
    assert all(isinstance(part, mmap.mmap) for part in fresh_facts._parts)
    assert not [path for path in config.graph_dir.rglob("*") if "aside" in path.name]  # no name is left
    return fresh_facts.take()


def test_facts_that_were_set_aside_give_the_same_graph(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_shards, "PART_BYTES", 1)
    monkeypatch.setattr(allocator, "ASIDE_BYTES", 1)
    config = plant(tmp_path, "python")
    store = GraphStore(config)
    store.update(entries(config.root), read_aside(config))
    assert graph(config) == fresh(config, tmp_path / "fresh")
    assert store.update(entries(config.root), read_aside(config)) == 0  # equal facts concern no file
    renamed = config.root / "python/shop/store.py"
    renamed.write_text(renamed.read_text().replace("def flush", "def flush_all"))
    (config.root / "python/shop/more.py").write_text(
        "".join(f"def f{number}(): ...\n" for number in range(20))
    )
    store.update(entries(config.root), read_aside(config))
    assert graph(config) == fresh(config, tmp_path / "again")


def test_a_long_run_keeps_few_files_of_facts_open(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_shards, "PART_BYTES", 1)
    fresh_facts = FreshFacts(tmp_path)
    for number in range(1_000):
        fresh_facts.add(msgspec.msgpack.encode({f"{number:03d}.py": None}))
    assert len(fresh_facts._parts) < 200
    assert len(fresh_facts.take()) == 1_000


def test_ids_are_unique_also_for_files_that_differ_in_their_ending(config):
    (config.root / "python/shop/main.go").write_text("package shop\n\nfunc main() {}\n")
    GraphStore(config).update(entries(config.root), {})
    ids = [orjson.loads(line)["id"] for line in graph(config) if b'"kind"' in line]
    assert len(ids) == len(set(ids))


def facts(path, text) -> Packed:
    source = decode(path, text.encode())
    assert isinstance(source, Source)
    packed = facts_of(source, digest(text.encode()))
    assert packed is not None
    return packed


def test_an_edit_inside_a_function_concerns_no_other_file():
    project = Project(LANGUAGES)
    project.update(
        {
            "a.py": facts("a.py", "def f():\n    return 1\n"),
            "b.py": facts("b.py", "from a import f\n\n\ndef g():\n    f()\n"),
        }
    )
    assert project.update({"a.py": facts("a.py", "def f():\n    print(2)\n    return 1\n")}) == {"a.py"}
    assert project.update({"a.py": facts("a.py", "def f(x):\n    return 1\n")}) == {"a.py", "b.py"}


def test_a_lost_re_export_concerns_the_users_of_its_names_through_any_number_of_barrels():
    project = Project(LANGUAGES)
    project.update(
        {
            "lib/base.ts": facts("lib/base.ts", "export class Base {}\n"),
            "lib/index.ts": facts("lib/index.ts", "export * from './base';\n"),
            "outer.ts": facts("outer.ts", "export * from './lib';\n"),
            "page.ts": facts("page.ts", "import { Base } from './outer';\nnew Base();\n"),
            "pkg/__init__.py": facts("pkg/__init__.py", "from .deep import *\n"),
            "pkg/deep.py": facts("pkg/deep.py", "def dig(): ...\n"),
            "pkg/use.py": facts("pkg/use.py", "from . import dig\n\ndig()\n"),
        }
    )
    without = {"lib/index.ts": "export const other = 1;\n", "pkg/__init__.py": "OTHER = 1\n"}
    concerned = project.update({name: facts(name, text) for name, text in without.items()})
    assert concerned >= {"page.ts", "pkg/use.py"}


@pytest.mark.parametrize("member", ["[name: string]: Disk;", "[K in Names]: Disk;"])
def test_an_added_index_signature_concerns_calls_through_its_type(member):
    text = "export type Handlers = {\n  size: number;\n};\n"
    project = Project(LANGUAGES)
    project.update(
        {
            "a.ts": facts("a.ts", text),
            "b.ts": facts(
                "b.ts", "import { Handlers } from './a';\nexport const table: Handlers = make();\n"
            ),
            "c.ts": facts("c.ts", "import { table } from './b';\ntable.first.save();\n"),
            "d.ts": facts("d.ts", "export const other = 1;\n"),
        }
    )
    with_it = facts("a.ts", text.replace("size: number;", member))
    assert project.update({"a.ts": with_it}) == {"a.ts", "b.ts", "c.ts"}
    assert project.update({"a.ts": facts("a.ts", text)}) == {"a.ts", "b.ts", "c.ts"}


#: subject → (path → text, the path of the edit, the text before and after it)
CONVERSIONS = {
    "a constructor takes another type": (
        {
            "p.hpp": "struct Path { Path(const char *s) {} };\n",
            "n.hpp": "struct Num { Num(int s) {} };\n",
            "f.hpp": '#include "p.hpp"\n#include "n.hpp"\nvoid f(Path p) {}\nvoid f(Num n) {}\n',
            "a.cpp": '#include "f.hpp"\nvoid run() { f("x"); }\n',
        },
        ("n.hpp", "int s", "const char *s"),
    ),
    "a name stands for another type": (
        {
            "p.hpp": "typedef std::string text;\n",
            "f.hpp": '#include "p.hpp"\nstruct Disk {};\nvoid f(text p) {}\nvoid f(Disk n) {}\n',
            "a.cpp": '#include "f.hpp"\nvoid run() { f("x"); }\n',
        },
        ("p.hpp", "std::string", "int"),
    ),
    "a method is for constant objects": (
        {
            "d.hpp": "struct Disk {\n  int at(int n) { return 1; }\n  int at(char n) const { return 2; }\n};\n",
            "a.cpp": '#include "d.hpp"\nvoid run() {\n  const Disk disk;\n  disk.at(1);\n}\n',
        },
        ("d.hpp", "int n) {", "int n) const {"),
    ),
    "a name stands for a constant type": (
        {
            "d.hpp": "struct Disk {\n  int size() { return 1; }\n  int size() const { return 2; }\n};\nusing Tape = Disk;\n",
            "a.cpp": '#include "d.hpp"\nvoid run() {\n  Tape tape;\n  tape.size();\n}\n',
        },
        ("d.hpp", "= Disk", "= const Disk"),
    ),
}


@pytest.mark.parametrize("what", CONVERSIONS)
def test_another_conversion_concerns_calls_of_what_takes_the_type(what, tmp_path):
    texts, (name, old, new) = CONVERSIONS[what]
    config = Config(root=tmp_path / "tree")
    config.root.mkdir()
    for path, text in texts.items():
        (config.root / path).write_text(text)
    store = GraphStore(config)
    store.update(entries(config.root), {})
    (config.root / name).write_text(texts[name].replace(old, new))
    store.update(entries(config.root), {})
    assert graph(config) == fresh(config, tmp_path / "fresh")


def test_a_reopened_type_lists_methods_that_another_file_adds():
    inside = "class Shop\n  def save(a)\n    a\n  end\nend\n"
    project = Project(LANGUAGES)
    project.update(
        {
            "a.rb": facts("a.rb", "class Shop\n  def save(a)\n  end\nend\n"),
            "b.rb": facts("b.rb", "class Shop\n  COUNT = 1\nend\n"),
            "c.rb": facts("c.rb", "class Other\n  COUNT = 1\nend\n"),
        }
    )
    assert "c.rb" not in project.update({"a.rb": facts("a.rb", inside)})
    assert project.update({"a.rb": facts("a.rb", inside.replace("save", "store"))}) == {"a.rb", "b.rb"}
    assert project.update({"a.rb": None}) == {"b.rb"}


@pytest.mark.hypothesis  # the nights draw more
def test_random_edits_end_where_a_fresh_reading_does(config, tmp_path):
    chance = random.Random(7)
    store = GraphStore(config)
    store.update(entries(config.root), {})
    for _ in range(scaled(40)):
        path = chance.choice(ALL)
        lines = path.read_text().splitlines(keepends=True)
        remaining = [line for line in lines if chance.random() > 0.1]
        (config.root / path.relative_to(PROJECTS)).write_text("".join(remaining) or "\n")
        store.update(entries(config.root), {})
    assert graph(config) == fresh(config, tmp_path / "fresh")


def test_languages_that_are_not_resolved_have_their_definitions_as_nodes(tmp_path):
    samples = Path(__file__).parents[1] / "golden" / "indexer" / "files" / "shop"
    other = Config(root=tmp_path)
    for name in ("session.lua", "inventory.ex", "barcode.zig", "backup.sh", "schema.sql", "Catalog.hs"):
        shutil.copy(samples / name, tmp_path / name)
    GraphStore(other).update(entries(tmp_path), {})
    entities = [orjson.loads(line) for line in graph(other)]
    assert not [entity for entity in entities if "from" in entity]
    assert {entity["file"] for entity in entities if entity["kind"] != "module"} == {
        "session.lua", "inventory.ex", "barcode.zig", "backup.sh", "schema.sql", "Catalog.hs",
    }  # fmt: skip
    assert len({entity["id"] for entity in entities}) == len(entities)
