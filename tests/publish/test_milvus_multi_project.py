"""Several projects of one real milvus-lite asked as one: by one search for each lane, however many
they are.
"""

from __future__ import annotations

import contextlib

import pytest

from cortex.engines.milvus.collection import Collection
from cortex.engines.milvus.joined_rows import join_rows
from cortex.engines.milvus.removal import drop_rows
from cortex.publish.milvus_publisher import Mirror
from cortex.ranking.multi_project import told_by
from cortex.system import allocator
from cortex.system.errors import NotReady
from ipc.codec import decode, encode
from ipc.messages import Among, Apart, Bring, ExactSearch, Fetch, Filters, MeaningSearch, Show, TextSignals
from tests.publish.test_milvus_publisher import SOURCES, Machine
from workers.text import make as make_text
from workers.vector import make as make_vector

TILL = {
    "shop/till.py": "def price(thing):\n    return thing.pence\n",
    "docs/till.md": "# Till\n\nWhat a till costs.\n",
}


class Place:
    """Some projects in one place, asked through the workers of the first."""

    def __init__(self, folder, milvus, sources):
        self.machines = {
            name: Machine(folder / name / "shop", milvus, f"{folder.name}-{name}", one)
            for name, one in sources.items()
        }
        for one in self.machines.values():
            one.publish()
        reader = Machine(folder / "reader" / "shop", milvus, self.names[0], {})
        with contextlib.closing(Mirror(reader.config)) as mirror:
            mirror.refresh()
        self.config = reader.config
        self.text, self.vector = make_text(reader.config), make_vector(reader.config)

    @property
    def names(self):
        return tuple(one.config.milvus.project for one in self.machines.values())

    def bring(self, *more):
        return self.text.handlers[Bring](Bring((*self.names, *more), 5.0))

    def ask(self, message, worker=None, generations=None):
        numbers = generations or self.bring().generations
        among = Among(self.names, numbers, (encode(message),))
        return decode(encode((worker or self.text).handlers[Among](decode(encode(among)))))


@pytest.fixture
def place(tmp_path, milvus):
    return Place(tmp_path, milvus, {"api": SOURCES, "web": TILL})


@pytest.fixture
def searches(monkeypatch):
    """The fields of all searches that are sent, and the number of reads."""
    sent = []
    for name in ("search", "get"):
        ask = getattr(Collection, name)

        def counted(self, *given, _ask=ask, _name=name, **more):
            sent.append(given[0] if _name == "search" else _name)
            return _ask(self, *given, **more)

        monkeypatch.setattr(Collection, name, counted)
    return sent


def told(reply):
    return {(told_by(hit)[0], told_by(hit)[1].path) for hit in reply.hits}


def test_words_and_meaning_of_all_are_found_by_one_search_for_each_lane(place, searches):
    place.bring()
    found = place.ask(TextSignals("what an item costs", 10))
    assert {(0, "shop/money.py"), (1, "docs/till.md")} <= told(found)
    lanes = [one for one in searches if one.endswith("_bm25")]
    assert len(lanes) == len(set(lanes))
    searches.clear()
    near = place.ask(MeaningSearch("what an item costs", 5), place.vector)
    assert {number for number, _ in told(near)} == {0, 1}
    assert searches.count("vector") == 1


def test_what_is_told_of_each_project_is_what_it_tells_alone(place):
    both = place.ask(MeaningSearch("price", 50), place.vector)
    cosines = dict(zip(told_ids(both), both.row("cosine").tolist(), strict=True))
    for at, machine in enumerate(place.machines.values()):
        asked = machine.workers()
        alone = make_vector(machine.config)
        alone.reload()
        reply = alone.handlers[MeaningSearch](MeaningSearch("price", 50))
        for (_, path, one), cosine in zip(told_ids(reply), reply.row("cosine").tolist(), strict=True):
            assert cosines[at, path, one] == pytest.approx(cosine, abs=1e-6)
        hits = asked[ExactSearch](ExactSearch("price"))
        found = place.ask(ExactSearch("price", limit=50))
        own = {one.path for number, one in map(told_by, found.hits) if number == at}
        assert own == {hit.path for hit in hits.hits}


def told_ids(reply):
    return [(told_by(hit)[0], told_by(hit)[1].path, hit.id) for hit in reply.hits]


def test_filters_mean_in_each_project_what_they_mean_there(place):
    found = place.ask(TextSignals("price", 10, Filters(paths=("shop/**",))))
    assert {path for _, path in told(found)} == {"shop/cart.py", "shop/money.py", "shop/till.py"}
    assert told(place.ask(ExactSearch("price", filters=Filters(paths=("shop/till.py",))))) == {
        (1, "shop/till.py")
    }
    assert not place.ask(TextSignals("price", 10, Filters(language="markdown", paths=("shop/**",)))).hits


def test_chunks_of_all_are_read_at_once(place, searches):
    found = place.ask(TextSignals("price", 10))
    keys = tuple(map(int, found.keys))
    searches.clear()
    chunks = place.ask(Fetch(keys), generations=place.bring().generations).chunks
    assert all(chunks)
    assert searches == ["get"]


def test_lines_are_shown_of_each_project_by_itself_and_read_at_once(place, searches):
    generations = place.bring().generations
    found = place.ask(TextSignals("price", 10))
    requests = [
        encode(Show(tuple(told_by(hit)[1].key for hit in own), (1.0,) * len(own), "price"))
        for at in range(2)
        if (own := [hit for hit in found.hits if told_by(hit)[0] == at])
    ]
    searches.clear()
    replies = place.text.handlers[Apart](Apart(place.names, generations, tuple(requests))).replies
    assert searches == ["get"]
    assert [
        any(word in one for one in decode(reply).entries)
        for reply, word in zip(replies, (b"cents", b"pence"), strict=True)
    ]


def test_a_project_that_is_not_there_is_told_and_the_others_answer(place):
    told = place.bring("nobody")
    assert told.generations[:2] == (1, 1)
    assert told.generations[2] == 0
    assert "Milvus has nothing of a project nobody" in told.why[2]


def test_a_project_in_which_there_is_nothing_is_told_and_the_others_answer(tmp_path, milvus):
    told = Place(tmp_path, milvus, {"api": SOURCES, "none": {}}).bring()
    assert told.generations == (1, 0)
    assert told.why == ("", "What Milvus has of it holds no text.")


def test_a_project_whose_document_cannot_be_read_is_told_and_not_asked_of_rows_that_may_be_gone(
    place, monkeypatch
):
    assert place.bring().generations == (1, 1)
    monkeypatch.setattr("cortex.engines.milvus.multi_project.LOOK_S", 0.0)
    with contextlib.closing(place.machines["web"].collection) as collection:
        name = collection.place.project
        collection.insert_parts([{"pk": f"{name}:document", "project": name, "content": "no document"}])
    told = place.bring()
    assert (told.generations, told.rows[1]) == ((1, 0), 0)
    assert f"The document of {name} in Milvus cannot be read" in told.why[1]


def test_a_project_that_is_removed_and_published_once_more_is_not_answered_from_before(
    place, tmp_path, milvus, monkeypatch
):
    assert told(place.ask(ExactSearch("pence"))) == {(1, "shop/till.py")}
    monkeypatch.setattr("cortex.engines.milvus.multi_project.LOOK_S", 0.0)
    old = place.machines["web"]
    with contextlib.closing(old.collection) as collection:
        drop_rows(collection, "born > 0")
        collection.delete(collection.project, parts=True)
    text = TILL["shop/till.py"].replace("pence", "farthing")
    Machine(tmp_path / "anew" / "shop", milvus, old.config.milvus.project, {"shop/till.py": text}).publish()
    assert place.bring().generations == (1, 1)
    assert told(place.ask(ExactSearch("farthing"))) == {(1, "shop/till.py")}
    assert not place.ask(ExactSearch("pence")).hits


def test_a_worker_that_nobody_asks_forgets_the_tables_of_all_and_makes_them_again(place, monkeypatch):
    made = []

    def counted(*given):
        made.append(given)
        return join_rows(*given)

    monkeypatch.setattr("cortex.engines.milvus.multi_project.join_rows", counted)
    before = [told(place.ask(ExactSearch("price"))) for _ in range(2)]
    assert len(made) == 1
    allocator.forget()
    assert [told(place.ask(ExactSearch("price")))] * 2 == before
    assert len(made) == 2


def test_what_nobody_has_asked_for_long_is_removed_from_the_disk(place, monkeypatch):
    place.bring()
    folder = place.config.index_dir / "others"
    assert len(list(folder.iterdir())) == 2
    fresh = make_text(place.config)
    monkeypatch.setattr("cortex.engines.milvus.multi_project.UNASKED_S", -1.0)
    assert fresh.handlers[Bring](Bring(place.names[:1], 5.0)).generations == (1,)
    assert len(list(folder.iterdir())) == 1


def test_a_worker_that_knows_less_than_the_other_looks_again(place, monkeypatch):
    before = place.bring().generations
    assert place.ask(MeaningSearch("price", 5), place.vector, before).hits
    monkeypatch.setattr("cortex.engines.milvus.multi_project.LOOK_S", 600.0)  # nobody looks by itself
    web = place.machines["web"]
    web.write("shop/till.py", TILL["shop/till.py"].replace("pence", "farthing"))
    web.publish()
    assert place.bring().generations == before
    assert place.ask(MeaningSearch("price", 5), place.vector, (1, 2)).hits
    assert told(place.ask(ExactSearch("farthing"), generations=(1, 2))) == {(1, "shop/till.py")}


def test_an_answer_is_of_one_generation_also_while_a_project_goes_on(place, monkeypatch):
    before = place.bring().generations
    web = place.machines["web"]
    web.write("shop/till.py", TILL["shop/till.py"].replace("pence", "farthing"))
    web.publish()
    assert told(place.ask(ExactSearch("pence"), generations=before)) == {(1, "shop/till.py")}
    assert not place.ask(ExactSearch("farthing"), generations=before).hits
    monkeypatch.setattr("cortex.engines.milvus.multi_project.LOOK_S", 0.0)
    after = place.bring().generations
    assert after == (1, 2)
    assert told(place.ask(ExactSearch("farthing"), generations=after)) == {(1, "shop/till.py")}
    assert not place.ask(ExactSearch("pence"), generations=after).hits
    # the one before is kept for who was just told of it, and one that never was is none
    assert told(place.ask(ExactSearch("pence"), generations=before)) == {(1, "shop/till.py")}
    with pytest.raises(NotReady, match="has moved on"):
        place.ask(ExactSearch("pence"), generations=(1, 9))


def test_a_worker_that_is_started_anew_brings_some_at_once_and_the_rest_for_later_questions(
    place, monkeypatch
):
    generations = place.bring().generations
    monkeypatch.setattr("cortex.engines.milvus.multi_project.PORTION", 1)
    monkeypatch.setattr("cortex.engines.milvus.multi_project.OPEN_SHARE", 1e-9)
    anew = make_vector(place.config)
    with pytest.raises(NotReady, match="being brought"):
        place.ask(MeaningSearch("price", 5), anew, generations)
    assert {number for number, _ in told(place.ask(MeaningSearch("price", 5), anew, generations))} == {0, 1}
