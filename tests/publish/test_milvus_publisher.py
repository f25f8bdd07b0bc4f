"""An index in Milvus: published from one machine, continued from another, served by a third. All
three are folders here; Milvus is a real milvus-lite.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import time

import msgspec
import pytest

from cortex.engines import engine_of, makers, open_engine
from cortex.engines.milvus.entries import continuation_entries, make_entry
from cortex.engines.milvus.place import milvus_place
from cortex.engines.milvus.publishing.publisher import Mirror, purge, writing
from cortex.engines.milvus.rows import Fetched
from cortex.engines.milvus.scope import primary_key
from cortex.engines.milvus.storage.collection import Collection
from cortex.engines.milvus.storage.documents import fetch_body, put_body, read_document, write_document
from cortex.engines.milvus.storage.removal import drop_rows
from cortex.engines.serving import EngineWorker
from cortex.generation.current import read_current
from cortex.generation.write import Row
from cortex.indexer.run import index
from cortex.publish.builder import Builder
from cortex.settings.config import Config
from cortex.system.errors import Damaged, Misconfigured, NotReady, Occupied
from ipc.messages import ExactSearch, Fetch, GraphSearch, OutlineSearch, PatternSearch, Show, TextSignals
from tests.milvus_lite import with_milvus

SOURCES = {
    "shop/cart.py": "from shop.money import price\n\n\ndef checkout(cart):\n    return sum(price(one) for one in cart)\n",
    "shop/money.py": '"""Money, in cents."""\n\n\ndef price(item):\n    """What an item costs."""\n    return item.cents\n',
    "README.md": "# Shop\n\nA cart, and what it costs.\n",
}


class Machine:
    """A checkout in a folder of its own, with a cache of its own (the cache's name contains the
    folder's).
    """

    def __init__(self, folder, milvus, project, sources=SOURCES):
        self.root = folder
        for name, text in sources.items():
            self.write(name, text)
        folder.mkdir(parents=True, exist_ok=True)
        config = with_milvus(Config(root=folder), milvus)
        self.config = dataclasses.replace(
            config, plug_settings=dataclasses.replace(config.plug_settings, project=project)
        )

    @property
    def collection(self):
        return Collection(milvus_place(self.config))

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def publish(self):
        config = dataclasses.replace(self.config, writes=True)
        with writing(config) as publish:
            index(config)
            return publish()

    def workers(self):
        with contextlib.closing(Mirror(self.config)) as mirror:
            mirror.refresh()
        by_name = {name: EngineWorker(name, self.config) for name in ("text", "vector", "graph")}
        for worker in by_name.values():
            worker.reload()
        return {kind: answer for worker in by_name.values() for kind, answer in worker.handlers.items()}


@pytest.fixture
def machine(tmp_path, milvus, request):
    folder_names = iter("abcdefgh")

    def make(sources=SOURCES):
        return Machine(
            tmp_path / next(folder_names) / "shop",
            milvus,
            f"{tmp_path.name}-{request.node.name}"[:90],
            sources,
        )

    return make


def paths(reply):
    return sorted({hit.path for hit in reply.hits})


def test_a_machine_without_sources_answers_from_what_another_has_published(machine):
    published = machine().publish()
    handlers = machine(sources={}).workers()
    assert paths(handlers[ExactSearch](ExactSearch("price"))) == ["shop/cart.py", "shop/money.py"]
    signals = handlers[TextSignals](TextSignals("what an item costs", 10))
    assert signals.generation == published.number
    assert "shop/money.py" in signals.paths
    (chunk,) = handlers[Fetch](Fetch((int(signals.keys[0]),))).chunks
    assert chunk
    reply = handlers[Show](
        Show(tuple(map(int, signals.keys)), (1.0,) * len(signals.keys), "what an item costs")
    )
    assert any(b"item.cents" in entry for entry in reply.entries)
    callers = handlers[GraphSearch](GraphSearch("callers", "price"))
    assert "shop/cart.py" in str(callers)
    assert handlers[OutlineSearch](OutlineSearch("shop/money.py")).paths == ("shop/money.py",)
    assert handlers[PatternSearch](PatternSearch("price($A)", "python")).paths == ("shop/cart.py",)


def test_a_keyword_query_weighs_words_by_how_rare_they_are_in_all_chunks_as_at_home(machine):
    more = {f"shop/part{at}.py": f"def part{at}(cart):\n    return cart.part + {at}\n" for at in range(9)}
    publisher = machine(SOURCES | more)
    publisher.publish()
    far_away, config = publisher.workers(), Config(root=publisher.root)
    index(config)
    with contextlib.closing(Builder(config)) as builder:
        while builder.refresh() is not None:
            pass
    at_home = EngineWorker("text", config)
    at_home.reload()
    for query in ("cart OR price", "price", "cart OR part7", '"return cart" OR item'):
        request = ExactSearch(query, "boolean", limit=50)
        remote, local = far_away[ExactSearch](request), at_home.handlers[ExactSearch](request)
        assert remote.total_found == local.total_found
        assert [hit.id for hit in remote.hits] == [hit.id for hit in local.hits]
        assert remote.scores == pytest.approx(local.scores, rel=0.25)


def test_another_machine_goes_on_and_writes_only_what_has_changed(machine):
    first = machine().publish()
    other = machine()
    other.write("shop/money.py", SOURCES["shop/money.py"].replace("cents", "pence"))
    second = other.publish()
    assert second.number > first.number
    born = other.collection.find(f"{other.collection.project} and born > {first.number}", ["path"])
    assert {row["path"] for row in born} == {"shop/money.py"}
    handlers = machine(sources={}).workers()
    assert paths(handlers[ExactSearch](ExactSearch("pence"))) == ["shop/money.py"]
    assert paths(handlers[ExactSearch](ExactSearch("cents"))) == []


def test_publishing_what_is_published_changes_nothing(machine):
    first = machine().publish()
    second = machine()
    document = read_document(second.collection)
    assert second.publish().rows == first.rows
    assert not second.collection.find(f"{second.collection.project} and born > {first.number}", ["pk"])
    assert read_document(second.collection).rows == document.rows


def test_only_one_of_two_indexers_of_a_project_may_write(machine):
    publisher, other = machine(), machine()
    with (
        writing(dataclasses.replace(publisher.config, writes=True)),
        pytest.raises(Occupied, match="is being indexed by"),
    ):
        other.publish()
    assert other.publish().rows


def test_rows_that_were_never_published_are_never_shown_and_are_removed(machine):
    publisher = machine()
    first = publisher.publish()
    publisher.write("shop/lost.py", "def lost():\n    return price(None)\n")
    publisher.write("shop/cart.py", "")
    config = dataclasses.replace(publisher.config, writes=True)
    index(config)
    engines = {name: open_engine(maker, config) for name, maker in makers(config).items()}
    with contextlib.closing(Builder(config, engines=engines, lean=True)) as builder:
        assert builder.refresh().number > first.number  # and its process ends here
    handlers = machine(sources={}).workers()
    assert paths(handlers[ExactSearch](ExactSearch("price"))) == ["shop/cart.py", "shop/money.py"]
    other = machine()
    assert other.publish().number >= first.number
    left = other.collection.find(f'{other.collection.project} and path == "shop/lost.py"', ["pk"])
    assert left == []


def test_a_first_publish_that_was_never_done_leaves_no_rows_to_the_next_one(machine):
    publisher = machine()
    config = dataclasses.replace(publisher.config, writes=True)
    index(config)
    engines = {name: open_engine(maker, config) for name, maker in makers(config).items()}
    with contextlib.closing(Builder(config, engines=engines, lean=True)) as builder:
        assert builder.refresh().rows  # and its process ends here
    other = machine(sources={"shop/money.py": SOURCES["shop/money.py"]})
    published = other.publish()
    assert other.collection.count(other.collection.project) == published.rows


def test_rows_stay_until_no_reader_needs_their_generation(machine):
    publisher = machine()
    publisher.publish()
    reader = publisher.workers()
    for number in range(3):
        publisher.write("shop/money.py", SOURCES["shop/money.py"].replace("cents", f"coins{number}"))
        publisher.publish()
    assert paths(reader[ExactSearch](ExactSearch("cents"))) == ["shop/money.py"]
    collection = publisher.collection
    document = read_document(collection)
    purge(collection, document)
    assert collection.count(f"{collection.project} and died <= {document.generation}") > 0
    long_ago = dict.fromkeys(document.published, 0.0)
    replaced = sorted(long_ago)[-3]  # the previous generation until now
    row_count = collection.count(collection.at(replaced))
    just_now = long_ago | {document.generation: time.time()}
    purge(collection, msgspec.structs.replace(document, published=just_now))
    assert collection.count(collection.at(replaced)) == row_count
    purge(collection, msgspec.structs.replace(document, published=long_ago))
    assert collection.count(f"{collection.project} and died <= {document.generation - 1}") == 0
    assert collection.count(collection.at(document.generation)) == document.rows


def test_an_idle_reader_checks_whether_its_rows_are_gone(machine, monkeypatch):
    publisher = machine()
    publisher.publish()
    reader, request = publisher.workers(), TextSignals("what an item costs", 10)
    for number in range(2):
        assert reader[TextSignals](request).hits  # of the last generation but one, too
        publisher.write("shop/money.py", SOURCES["shop/money.py"].replace("cents", f"coins{number}"))
        publisher.publish()
        if not number:
            monkeypatch.setattr("cortex.engines.milvus.searches.LOOKED_AGAIN_S", 0.0)
    with pytest.raises(NotReady, match="has moved on"):
        reader[TextSignals](request)
    assert publisher.workers()[TextSignals](request).hits


def test_a_document_of_another_version_is_refused(machine):
    publisher = machine()
    publisher.publish()
    collection = publisher.collection
    document = read_document(collection)
    write_document(collection, msgspec.structs.replace(document, schema=99))
    with pytest.raises(Misconfigured, match="has the shape 99"):
        publisher.workers()


def test_a_cache_that_is_removed_is_brought_again(machine):
    machine().publish()
    reader = machine(sources={})
    reader.workers()
    shutil.rmtree(reader.config.home)
    assert paths(reader.workers()[ExactSearch](ExactSearch("checkout"))) == ["shop/cart.py"]


def test_what_somebody_removes_while_it_is_followed_is_brought_again(machine):
    machine().publish()
    reader = machine(sources={})
    with contextlib.closing(Mirror(reader.config)) as mirror:
        assert mirror.refresh()
        shutil.rmtree(reader.config.index_dir)
        assert not mirror.refresh()  # there is no other generation
    assert read_current(reader.config.index_dir).number == 1


def test_a_query_before_the_first_publish_is_refused(machine):
    publisher = machine()
    with pytest.raises(NotReady, match="Nothing is indexed yet"):
        publisher.workers()[ExactSearch](ExactSearch("price"))
    with contextlib.closing(Mirror(publisher.config)) as mirror:
        assert not mirror.refresh()
        assert publisher.config.plug_settings.project in mirror.fault
        assert "run `cortex index --to milvus`" in mirror.fault
        publisher.publish()
        assert mirror.refresh()
        assert not mirror.fault


def test_workers_of_words_and_vectors_ask_milvus_and_the_graph_is_here(machine):
    config = machine().config
    assert [engine_of(name, config) for name in ("text", "vector", "graph")] == ["milvus", "milvus", "graph"]


def test_a_chunk_longer_than_milvus_takes_comes_back_whole_and_goes_with_its_parts(machine):
    collection = machine().collection
    collection.create_collections()
    project, text = collection.place.project, f"{'x' * 59_950}éé{'y' * 90_000}"
    row = Row(7, {"id": "long", "chunk_type": "code", "text": text}, "a.json", bytes(16), None, "")
    collection.insert_parts(continuation_entries(project, row))
    collection.insert([make_entry(project, row, 1, collection.place.dimensions)])
    ((head, raw),) = Fetched(collection).texts([primary_key(project, 7)])
    assert (b'"id":"long"' in head, raw.decode()) == (True, f"{text}\n")
    assert len(collection.parts_like('pk like "%:chunk:7:%"', ["pk"])) == 2
    drop_rows(collection, "key == 7")
    assert not collection.parts_like('pk like "%:chunk:%"', ["pk"])
    assert not collection.keys(collection.project)


def test_all_rows_that_a_filter_finds_come_in_portions(machine, monkeypatch):
    publisher = machine()
    publisher.publish()
    every = publisher.collection.keys(publisher.collection.project)
    monkeypatch.setattr("cortex.engines.milvus.storage.collection.PORTION_ROWS", 2)
    assert sorted(publisher.collection.keys(publisher.collection.project)) == sorted(every)
    assert len(every) > 4


@pytest.mark.parametrize(
    "name", ["../../escaped.seg", "/tmp/escaped.seg", "rows-1.seg/../../x.seg", "rows-7.seg"]
)
def test_a_file_that_milvus_names_elsewhere_is_written_nowhere(machine, name):
    publisher = machine()
    publisher.publish()
    collection = publisher.collection
    document = read_document(collection)
    body = fetch_body(collection, document.body)
    body.current["segments"][0]["name"] = name
    files = body.files if name == "rows-7.seg" else body.files | {name: next(iter(body.files.values()))}
    forged = put_body(collection, dataclasses.replace(body, files=files))
    write_document(collection, msgspec.structs.replace(document, body=forged))
    reader = machine(sources={})
    with pytest.raises(Damaged, match="which is no file of it"):
        reader.workers()
    assert not [path for path in reader.root.parent.rglob("*.seg") if path.is_file()]
    assert not list(reader.config.index_dir.rglob("*.seg"))
