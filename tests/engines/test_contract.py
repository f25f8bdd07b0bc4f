"""The contract of `cortex.engines.protocol`, tested with every engine.

An engine of any installed package is tested in the same way by

    pytest tests/engines/test_contract.py --engine package.module:Maker

where Maker(config) makes the engine. Only messages in its `answers` are sent, and no feature that
it `lacks` is used.
"""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import weakref
from pathlib import Path
from typing import get_args

import orjson
import pytest

from cortex.engines import ENGINES, open_engine
from cortex.engines.protocol import Change, Feature
from cortex.engines.serving import EngineWorker
from cortex.generation.write import Row
from cortex.publish.builder import Builder, Limits
from cortex.system.errors import BadRequest, CortexError, Damaged, NotFound, NotReady
from ipc.messages import (
    CountWords,
    ExactSearch,
    Fetch,
    Filters,
    GraphSearch,
    Locate,
    MapSearch,
    NameSearch,
    OutlineSearch,
    PatternSearch,
    Place,
    Show,
    SourceLines,
    TextSignals,
    UnitsAt,
    UnitSearch,
    VectorSearch,
)
from tests.engines.forest import TREES, HnswEngine, PlainEngine, World, chunk, text, vector
from tests.milvus_lite import LiteEngine

ROOT = Path(__file__).parents[2]


def pytest_generate_tests(metafunc):
    if "maker" in metafunc.fixturenames:
        engine_name = metafunc.config.getoption("--engine")
        ours = ENGINES | {"milvus": LiteEngine, "hnsw": HnswEngine, "plain": PlainEngine}
        makers = {engine_name: engine_name} if engine_name else ours
        metafunc.parametrize("maker", makers.values(), ids=makers)


@pytest.fixture
def world(request, tmp_path, maker):
    if maker is LiteEngine:
        request.getfixturevalue("milvus")
    with contextlib.closing(World(tmp_path / "project", maker)) as tested_world:
        yield tested_world


#: message → a request for the file of a tree
QUESTIONS = {
    ExactSearch: ExactSearch,
    TextSignals: lambda tree: TextSignals(tree, 10),
    UnitSearch: lambda tree: UnitSearch(tree, 10),
    MapSearch: MapSearch,
    UnitsAt: lambda tree: UnitsAt((Place(f"{tree}.py"),)),
    VectorSearch: lambda tree: VectorSearch(vector(tree), "m@1", 1),
    Locate: lambda tree: Locate((Place(f"{tree}.py", 1),)),
    GraphSearch: lambda tree: GraphSearch("callers", f"plant_{tree}"),
    OutlineSearch: lambda tree: OutlineSearch(f"{tree}.py"),
    NameSearch: lambda tree: NameSearch(f"{tree}.p"),
    PatternSearch: lambda tree: PatternSearch(f"grow('young {tree} tree')", "python"),
}


def paths(reply):
    if hasattr(reply, "entries"):
        return [entry["file"] for entry in reply.entries]
    if hasattr(reply, "paths"):
        names = getattr(reply, "candidates", ())  # results of NameSearch
        return list(reply.paths) or [name for name in names if name.endswith(".py")]
    if hasattr(reply, "units"):
        return [orjson.loads(unit)["path"] for unit in reply.units]
    if hasattr(reply, "spots"):
        return [spot.hit.path for spot in reply.spots]
    return [hit.path for hit in reply.hits]


def answering_kinds(handlers, tree):
    """The messages of `handlers` whose answer to a request for `tree` is its file. Fetch has other
    tests.
    """
    kinds = [kind for kind in handlers if kind in QUESTIONS]
    return {kind for kind in kinds if paths(handlers[kind](QUESTIONS[kind](tree))) == [f"{tree}.py"]}


def all_of(handlers):
    return {kind for kind in handlers if kind in QUESTIONS}


def test_making_an_engine_touches_no_file(world):
    world.make().close()
    assert not world.config.index_dir.exists()


def test_a_snapshot_answers_all_messages_in_answers(world):
    generation = world.publish(*TREES)
    handlers = world.open()
    assert set(handlers) == set(world.make().answers)
    assert set(handlers) <= {*QUESTIONS, CountWords, Fetch, Show, SourceLines}
    for tree in TREES:
        assert answering_kinds(handlers, tree) == all_of(handlers)
    for kind in all_of(handlers):
        assert handlers[kind](QUESTIONS[kind]("oak")).generation == generation.number


def test_chunks_come_back_by_their_keys_as_they_were_written(world):
    world.publish(*TREES)
    handlers = world.open()
    if Fetch not in handlers:  # then it names no chunk by its key
        assert not set(handlers) & {ExactSearch, TextSignals, VectorSearch}
        return
    keys = (world.key("maple"), 1, world.key("birch"))
    first, none, last = handlers[Fetch](Fetch(keys)).chunks
    assert [orjson.loads(raw)["text"] for raw in (first, last)] == [text("maple"), text("birch")]
    assert none == b""


def test_lines_come_back_as_they_were_written(world):
    world.publish(*TREES)
    handlers = world.open()
    if SourceLines not in handlers:
        assert Fetch not in handlers
        return
    first, second = text("oak").encode().splitlines()
    spans = (("oak.py", 1, 1), ("ash.py", 1, 9), ("oak.py", 2, 99), ("oak.py", 0, 2), ("oak.py", 5, 7))
    texts = handlers[SourceLines](SourceLines(spans)).texts
    assert texts == (first, b"", second, b"\n".join([first, second]), b"")


def test_filters_keep_what_they_name(world):
    world.publish(*TREES)
    handlers = world.open()
    for kind in all_of(handlers) & {ExactSearch, TextSignals, UnitSearch, VectorSearch, Locate}:
        question = QUESTIONS[kind]("oak")
        for filters, expected in (
            (Filters(paths=("o*.py",)), ["oak.py"]),
            (Filters(tags=("python",), language="python"), ["oak.py"]),
            (Filters(exclude_paths=("*.py",)), []),
        ):
            assert paths(handlers[kind](with_filters(question, filters))) == expected, (kind, filters)


def with_filters(question, filters):
    fields = {name: getattr(question, name) for name in question.__struct_fields__}
    return type(question)(**fields | {"filters": filters})


def test_a_worker_is_not_ready_before_the_first_generation(world):
    worker = world.worker()
    assert not worker.reload()
    for kind in all_of(worker.handlers):
        with pytest.raises(NotReady):
            worker.handlers[kind](QUESTIONS[kind]("oak"))
    world.publish("oak")
    assert worker.reload()
    assert answering_kinds(worker.handlers, "oak") == all_of(worker.handlers)


def test_a_generation_without_rows_finds_nothing(world):
    world.publish("oak")
    world.publish()
    handlers = world.open()
    assert answering_kinds(handlers, "oak") == set()


def test_a_change_is_followed_and_a_snapshot_stays_as_it_is(world):
    world.publish("birch", "oak")
    reader = world.make()
    before = world.open(reader)
    world.publish("birch", "cedar")
    after = world.open(reader)
    assert answering_kinds(after, "cedar") == answering_kinds(after, "birch") == all_of(after)
    assert answering_kinds(after, "oak") == set()
    # PatternSearch reads current sources, of the files in its generation.
    old = all_of(before) - {PatternSearch}
    assert answering_kinds(before, "oak") - {PatternSearch} == old
    assert answering_kinds(before, "cedar") == set()


def test_a_worker_swaps_and_answers_for_both_generations_for_a_moment(world):
    first = world.publish("oak").number
    worker = world.worker()
    worker.reload()
    second = world.publish("cedar").number
    assert worker.reload()
    assert worker.status().generation == second
    for kind in all_of(worker.handlers):
        fields = QUESTIONS[kind]("oak")
        for number in (first, second):
            request = type(fields)(
                **{name: getattr(fields, name) for name in fields.__struct_fields__} | {"generation": number}
            )
            assert worker.handlers[kind](request).generation == number


def test_files_of_a_generation_close_with_its_snapshot_without_garbage_collection(world):
    world.publish("birch", "oak")
    reader = world.make()
    first = world.published()
    handlers = reader.open(first.generation.tokens["tested"], first)
    for kind in all_of(handlers):
        with contextlib.suppress(CortexError):
            handlers[kind](QUESTIONS[kind]("oak"))
    gone = weakref.ref(first.rows)
    world.publish("birch", "cedar", "maple", "oak")
    gc.collect()
    gc.disable()
    try:
        del handlers, first
        second = world.published()
        reader.open(second.generation.tokens["tested"], second)
        assert gone() is None
    finally:
        gc.enable()


def test_the_token_stays_when_a_change_does_not_concern_the_engine(world):
    generation = world.publish("birch", "oak")
    engine = world.make()
    with contextlib.closing(engine):
        token = generation.tokens["tested"]
        engine.resume(token)
        assert engine.build(Change(generation.number + 1, graph=generation.graph)) == token
        assert engine.upkeep(world.published()) == token


def test_merging_segments_changes_no_answer_and_no_token(world):
    world.start(limits=Limits(segments_max=1))
    for count in range(1, len(TREES) + 1):
        generation = world.publish(*TREES[:count])
    assert len(generation.segments) == 1
    handlers = world.open()
    for tree in TREES:
        assert answering_kinds(handlers, tree) == all_of(handlers)


def test_an_unpublished_build_is_forgotten(world):
    generation = world.publish("oak")
    world.builder.close()
    body = {name: value for name, value in chunk("cedar").items() if name != "embedding"}
    lost = Row(generation.next_key, body, "chunks.json", bytes(16), vector("cedar"), "m@1")
    with contextlib.closing(world.make()) as engine:
        engine.resume(generation.tokens["tested"])
        engine.build(Change(generation.number + 1, (lost,), (world.key("oak"),), generation.graph))
    world.start()
    assert answering_kinds(world.open(), "oak") == all_of(world.open())
    world.publish("oak", "maple")
    handlers = world.open()
    assert answering_kinds(handlers, "oak") == answering_kinds(handlers, "maple") == all_of(handlers)
    assert answering_kinds(handlers, "cedar") == set()


def test_pruning_keeps_named_and_young_files(world):
    world.publish("birch", "oak")
    current_token = world.publish("birch", "cedar").tokens["tested"]
    engine = world.make()
    assert engine.prune({current_token}) == []
    assert current_token not in engine.prune({current_token}, older_than_s=-1)
    handlers = world.open(engine)
    assert answering_kinds(handlers, "cedar") == answering_kinds(handlers, "birch") == all_of(handlers)
    world.publish("birch", "cedar", "maple")
    assert answering_kinds(world.open(engine), "maple") == all_of(handlers)


def test_an_unknown_token_is_refused_or_ignored(world):
    world.publish("birch", "oak")
    engine = world.make()
    try:
        handlers = engine.open("nothing", world.published())
    except (NotFound, Damaged):
        return
    assert answering_kinds(handlers, "oak") == all_of(handlers)


def test_an_engine_without_its_token_reports_it_or_builds_anew(world):
    generation = world.publish("birch", "oak")
    world.builder.close()
    with contextlib.closing(world.make()) as engine:
        try:
            engine.resume("nothing")
        except CortexError:
            return
        engine.build(Change(generation.number + 1, graph=generation.graph))
        token = engine.upkeep(world.published())
        assert answering_kinds(engine.open(token, world.published()), "oak") == all_of(world.open())


def test_a_missing_or_empty_file_is_refused_or_ignored_and_the_index_heals(world):
    world.publish("birch", "oak")
    world.builder.close()
    engine_files = [
        path
        for path in world.config.index_dir.rglob("*")
        if path.is_file()
        and path.parent.name not in ("segments", "writer")
        and path.parent != world.config.index_dir
    ]
    for path in engine_files:
        content = path.read_bytes()
        for damage in (None, b""):
            path.unlink(missing_ok=True)
            if damage is not None:
                path.write_bytes(damage)
            with contextlib.suppress(CortexError):
                handlers = world.open()
                assert answering_kinds(handlers, "oak") == all_of(handlers), path
        path.write_bytes(content)
    for path in engine_files:
        path.unlink()
    world.start()
    world.publish("birch", "oak", "maple")
    for tree in ("birch", "oak", "maple"):
        assert answering_kinds(world.open(), tree) == all_of(world.open())


@pytest.mark.parametrize(
    ("feature", "query"),
    [("phrase", '"oak tree"'), ("wildcard", "oa*"), ("fuzzy", "oka~1"), ("expression", "/o[a]k tree/")],
)
def test_a_missing_feature_is_refused_by_its_name(world, feature, query):
    world.publish(*TREES)
    engine = world.make()
    handlers = world.open(engine)
    if ExactSearch not in handlers:
        assert feature not in engine.lacks  # then the feature is not tested
    elif feature in engine.lacks:
        with pytest.raises(BadRequest, match=feature):
            handlers[ExactSearch](ExactSearch(query))
    else:
        assert paths(handlers[ExactSearch](ExactSearch(query))) == ["oak.py"]


def test_lacking_features_are_listed_by_status(world):
    engine = world.make()
    assert engine.lacks <= set(get_args(Feature))
    assert world.worker().status().info.get("lacks", []) == sorted(engine.lacks)


def test_status_is_plain_and_opens_nothing(world):
    worker = world.worker()
    orjson.dumps(worker.status().info)
    assert not world.config.index_dir.exists()
    world.publish("oak")
    worker.reload()
    status = worker.status()
    orjson.dumps(status.info)
    assert (status.worker, status.generation, status.info["fault"]) == (
        "tested",
        world.builder.current.number,
        "",
    )


def test_an_engine_can_be_closed_twice_and_resumed(world):
    generation = world.publish("oak")
    world.builder.close()
    world.builder.close()
    engine = world.make()
    for _ in range(2):
        engine.resume(generation.tokens["tested"])
        engine.close()
        engine.close()
    world.start()
    world.publish("oak", "birch")
    assert answering_kinds(world.open(), "birch") == all_of(world.open())


def test_every_listed_engine_receives_rows_and_graph(tmp_path):
    world = World(tmp_path / "project", PlainEngine)
    plain = world.make()
    others = {name: open_engine(ENGINES[name], world.config) for name in ENGINES}
    world.builder = Builder(world.config, engines=others | {"tested": plain})
    with contextlib.closing(world):
        generation = world.publish(*TREES)
        assert set(generation.tokens) == {*ENGINES, "tested"}
        assert plain.status("", generation)["graph_files"] == list(generation.graph) == ["graph.json"]
        assert answering_kinds(world.open(), "oak") == {ExactSearch, Locate}
        worker = EngineWorker("text", world.config)
        worker.reload()
        assert answering_kinds(worker.handlers, "oak") == {
            ExactSearch,
            TextSignals,
            UnitSearch,
            UnitsAt,
            MapSearch,
            Locate,
        }


#: a package that only one engine needs
HEAVY = {"text": "tantivy", "vector": "usearch", "graph": "ast_grep_py", "milvus": "pymilvus"}


@pytest.mark.parametrize("name", ENGINES)
def test_a_worker_loads_the_libraries_of_its_own_engine_only(name):
    program = (
        f"import sys, pathlib, workers.{name}\n"
        "from cortex.engines.serving import EngineWorker\n"
        "from cortex.settings.config import Config\n"
        f"EngineWorker({name!r}, Config(root=pathlib.Path('/nowhere')))\n"
        f"print(*({set(HEAVY.values())!r} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"ENGINES has {name}, so workers/{name}.py is needed: {done.stderr}"
    # usearch is imported when rows are opened, ast-grep with the first pattern.
    assert done.stdout.split() == ([HEAVY[name]] if name == "text" else [])
