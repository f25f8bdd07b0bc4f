"""Several projects of one real milvus-lite in one query: one search for each lane, however many
projects there are.
"""

from __future__ import annotations

import contextlib

import pytest

from cortex.engines.milvus.joined_rows import join_rows
from cortex.engines.milvus.publishing.publisher import Mirror
from cortex.engines.milvus.storage.collection import Collection
from cortex.engines.milvus.storage.removal import drop_rows
from cortex.ranking.multi_project import split_hit
from cortex.system.errors import NotReady
from cortex.system.process import allocator
from ipc.codec import decode, encode
from ipc.messages import Among, Apart, Bring, ExactSearch, Fetch, Filters, MeaningSearch, Show, TextSignals
from tests.publish.test_milvus_publisher import SOURCES, Machine
from workers.text import make as make_text
from workers.vector import make as make_vector

TILL = {
    "shop/till.py": "def price(thing):\n    return thing.pence\n",
    "docs/till.md": "# Till\n\nWhat a till costs.\n",
}


class ProjectGroup:
    """Some projects in one place, queried through the workers of the first."""

    def __init__(self, folder, milvus, sources):
        self.machines = {
            name: Machine(folder / name / "shop", milvus, f"{folder.name}-{name}", texts)
            for name, texts in sources.items()
        }
        for machine in self.machines.values():
            machine.publish()
        reader = Machine(folder / "reader" / "shop", milvus, self.names[0], {})
        with contextlib.closing(Mirror(reader.config)) as mirror:
            mirror.refresh()
        self.config = reader.config
        self.text, self.vector = make_text(reader.config), make_vector(reader.config)

    @property
    def names(self):
        return tuple(machine.config.plug_settings.project for machine in self.machines.values())

    def bring(self, *more):
        return self.text.handlers[Bring](Bring((*self.names, *more), 5.0))

    def ask(self, message, worker=None, generations=None):
        numbers = generations or self.bring().generations
        among = Among(self.names, numbers, (encode(message),))
        return decode(encode((worker or self.text).handlers[Among](decode(encode(among)))))


@pytest.fixture
def place(tmp_path, milvus):
    return ProjectGroup(tmp_path, milvus, {"api": SOURCES, "web": TILL})


@pytest.fixture
def searches(monkeypatch):
    """Record the fields of all searches, and the count of reads."""
    sent = []
    for name in ("search", "get"):
        ask = getattr(Collection, name)

        def counted(self, *arguments, _ask=ask, _name=name, **more):
            sent.append(arguments[0] if _name == "search" else _name)
            return _ask(self, *arguments, **more)

        monkeypatch.setattr(Collection, name, counted)
    return sent


def hit_places(reply):
    return {(split_hit(hit)[0], split_hit(hit)[1].path) for hit in reply.hits}


def test_words_and_meaning_of_all_are_found_by_one_search_for_each_lane(place, searches):
    place.bring()
    answer = place.ask(TextSignals("what an item costs", 10))
    assert {(0, "shop/money.py"), (1, "docs/till.md")} <= hit_places(answer)
    lanes = [field for field in searches if field.endswith("_bm25")]
    assert len(lanes) == len(set(lanes))
    searches.clear()
    near = place.ask(MeaningSearch("what an item costs", 5), place.vector)
    assert {number for number, _ in hit_places(near)} == {0, 1}
    assert searches.count("vector") == 1


def test_joint_answers_match_those_of_each_project_alone(place):
    both = place.ask(MeaningSearch("price", 50), place.vector)
    cosines = dict(zip(told_ids(both), both.row("cosine").tolist(), strict=True))
    for at, machine in enumerate(place.machines.values()):
        handlers = machine.workers()
        alone = make_vector(machine.config)
        alone.reload()
        reply = alone.handlers[MeaningSearch](MeaningSearch("price", 50))
        for (_, path, chunk_id), cosine in zip(told_ids(reply), reply.row("cosine").tolist(), strict=True):
            assert cosines[at, path, chunk_id] == pytest.approx(cosine, abs=1e-6)
        hits = handlers[ExactSearch](ExactSearch("price"))
        joint = place.ask(ExactSearch("price", limit=50))
        own_paths = {own_hit.path for number, own_hit in map(split_hit, joint.hits) if number == at}
        assert own_paths == {hit.path for hit in hits.hits}


def told_ids(reply):
    return [(split_hit(hit)[0], split_hit(hit)[1].path, hit.id) for hit in reply.hits]


def test_filters_apply_within_each_project(place):
    answer = place.ask(TextSignals("price", 10, Filters(paths=("shop/**",))))
    assert {path for _, path in hit_places(answer)} == {"shop/cart.py", "shop/money.py", "shop/till.py"}
    assert hit_places(place.ask(ExactSearch("price", filters=Filters(paths=("shop/till.py",))))) == {
        (1, "shop/till.py")
    }
    assert not place.ask(TextSignals("price", 10, Filters(language="markdown", paths=("shop/**",)))).hits


def test_chunks_of_all_are_read_at_once(place, searches):
    answer = place.ask(TextSignals("price", 10))
    keys = tuple(map(int, answer.keys))
    searches.clear()
    chunks = place.ask(Fetch(keys), generations=place.bring().generations).chunks
    assert all(chunks)
    assert searches == ["get"]


def test_lines_are_shown_of_each_project_by_itself_and_read_at_once(place, searches):
    generations = place.bring().generations
    answer = place.ask(TextSignals("price", 10))
    requests = [
        encode(
            Show(tuple(split_hit(hit)[1].key for hit in project_hits), (1.0,) * len(project_hits), "price")
        )
        for at in range(2)
        if (project_hits := [hit for hit in answer.hits if split_hit(hit)[0] == at])
    ]
    searches.clear()
    replies = place.text.handlers[Apart](Apart(place.names, generations, tuple(requests))).replies
    assert searches == ["get"]
    assert [
        any(word in entry for entry in decode(reply).entries)
        for reply, word in zip(replies, (b"cents", b"pence"), strict=True)
    ]


def test_a_missing_project_is_reported_and_the_others_answer(place):
    brought = place.bring("nobody")
    assert brought.generations[:2] == (1, 1)
    assert brought.generations[2] == 0
    assert "Milvus has no data of a project nobody" in brought.why[2]


def test_an_empty_project_is_reported_and_the_others_answer(tmp_path, milvus):
    brought = ProjectGroup(tmp_path, milvus, {"api": SOURCES, "none": {}}).bring()
    assert brought.generations == (1, 0)
    assert brought.why == ("", "Its index in Milvus holds no text.")


def test_a_project_with_an_unreadable_document_is_reported_and_not_queried(place, monkeypatch):
    assert place.bring().generations == (1, 1)
    monkeypatch.setattr("cortex.engines.milvus.multi_project.LOOK_S", 0.0)
    with contextlib.closing(place.machines["web"].collection) as collection:
        name = collection.place.project
        collection.insert_parts([{"pk": f"{name}:document", "project": name, "content": "no document"}])
    brought = place.bring()
    assert (brought.generations, brought.rows[1]) == ((1, 0), 0)
    assert f"The document of {name} in Milvus cannot be read" in brought.why[1]


def test_a_project_that_is_removed_and_published_once_more_is_not_answered_from_before(
    place, tmp_path, milvus, monkeypatch
):
    assert hit_places(place.ask(ExactSearch("pence"))) == {(1, "shop/till.py")}
    monkeypatch.setattr("cortex.engines.milvus.multi_project.LOOK_S", 0.0)
    old = place.machines["web"]
    with contextlib.closing(old.collection) as collection:
        drop_rows(collection, "born > 0")
        collection.delete(collection.project, parts=True)
    text = TILL["shop/till.py"].replace("pence", "farthing")
    Machine(
        tmp_path / "anew" / "shop", milvus, old.config.plug_settings.project, {"shop/till.py": text}
    ).publish()
    assert place.bring().generations == (1, 1)
    assert hit_places(place.ask(ExactSearch("farthing"))) == {(1, "shop/till.py")}
    assert not place.ask(ExactSearch("pence")).hits


def test_a_worker_that_nobody_asks_forgets_the_tables_of_all_and_makes_them_again(place, monkeypatch):
    joined = []

    def counted(*arguments):
        joined.append(arguments)
        return join_rows(*arguments)

    monkeypatch.setattr("cortex.engines.milvus.multi_project.join_rows", counted)
    before = [hit_places(place.ask(ExactSearch("price"))) for _ in range(2)]
    assert len(joined) == 1
    allocator.forget()
    assert [hit_places(place.ask(ExactSearch("price")))] * 2 == before
    assert len(joined) == 2


def test_projects_that_are_long_unused_are_removed_from_the_disk(place, monkeypatch):
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
    # The worker does not check by itself.
    monkeypatch.setattr("cortex.engines.milvus.multi_project.LOOK_S", 600.0)
    web = place.machines["web"]
    web.write("shop/till.py", TILL["shop/till.py"].replace("pence", "farthing"))
    web.publish()
    assert place.bring().generations == before
    assert place.ask(MeaningSearch("price", 5), place.vector, (1, 2)).hits
    assert hit_places(place.ask(ExactSearch("farthing"), generations=(1, 2))) == {(1, "shop/till.py")}


def test_an_answer_is_of_one_generation_also_while_a_project_goes_on(place, monkeypatch):
    before = place.bring().generations
    web = place.machines["web"]
    web.write("shop/till.py", TILL["shop/till.py"].replace("pence", "farthing"))
    web.publish()
    assert hit_places(place.ask(ExactSearch("pence"), generations=before)) == {(1, "shop/till.py")}
    assert not place.ask(ExactSearch("farthing"), generations=before).hits
    monkeypatch.setattr("cortex.engines.milvus.multi_project.LOOK_S", 0.0)
    after = place.bring().generations
    assert after == (1, 2)
    assert hit_places(place.ask(ExactSearch("farthing"), generations=after)) == {(1, "shop/till.py")}
    assert not place.ask(ExactSearch("pence"), generations=after).hits
    # the previous generation stays for clients that just learnt of it; one that was never served
    # does not
    assert hit_places(place.ask(ExactSearch("pence"), generations=before)) == {(1, "shop/till.py")}
    with pytest.raises(NotReady, match="has moved on"):
        place.ask(ExactSearch("pence"), generations=(1, 9))


def test_a_worker_that_is_started_anew_brings_some_at_once_and_the_rest_for_later_questions(
    place, monkeypatch
):
    generations = place.bring().generations
    monkeypatch.setattr("cortex.engines.milvus.multi_project.PORTION", 1)
    monkeypatch.setattr("cortex.engines.milvus.multi_project.OPEN_SHARE", 1e-9)
    anew = make_vector(place.config)
    with pytest.raises(NotReady, match="being downloaded"):
        place.ask(MeaningSearch("price", 5), anew, generations)
    assert {number for number, _ in hit_places(place.ask(MeaningSearch("price", 5), anew, generations))} == {
        0,
        1,
    }
