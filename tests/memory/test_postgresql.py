"""Memory of a team in a real PostgreSQL server that the tests start, stop and kill."""

import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from threading import get_ident

import pytest
from sqlalchemy import event, text

from cortex.embedders import open_apart
from cortex.memory.find.word_index import open_index
from cortex.memory.find.words import FIELDS
from cortex.memory.library import Library, finish
from cortex.memory.note import Note
from cortex.memory.serving import MemoryWorker
from cortex.memory.store.tables import VERSION
from cortex.memory.team.postgresql import Server
from cortex.memory.team.server_address import server_of
from cortex.memory.upkeep import fading
from cortex.settings.config import Config
from cortex.settings.data import DataFolder
from cortex.settings.table import Embedding, Memory
from cortex.system.errors import BadRequest, CortexError, Misconfigured, NotFound, Unavailable
from cortex.terms import tokens
from ipc.messages import MemoryCall
from tests.embedders.conftest import models  # noqa: F401 - a fixture
from tests.postgres import serving


@pytest.fixture(scope="module")
def server():
    with serving() as started:
        yield started


@pytest.fixture
def address(server, like):
    return server.database(like)


@pytest.fixture(scope="module")
def like(server, tmp_path_factory):
    """The name of a database with an empty memory of a team."""
    address = server.database()
    open_library(tmp_path_factory.mktemp("like"), address).close()
    return address.partition("@/")[2].partition("?")[0]


def open_library(folder, address, team="cortex", project="shop"):
    return Library.open(folder, project=project, driver=Server(address, team))


def titles(library, query):
    return [row["title"] for row in library.recall(query)]


def test_a_note_from_one_machine_is_found_on_another_at_once(tmp_path, address):
    with (
        open_library(tmp_path / "a", address) as machine,
        open_library(tmp_path / "b", address) as other_machine,
    ):
        stored = machine.store("Decision: sessions are kept in Redis", kind="decision")
        assert titles(other_machine, "where are sessions kept?") == ["Decision: sessions are kept in Redis"]
        other_machine.forget(stored["id"])
        assert titles(machine, "where are sessions kept?") == []


def occurrences(folder, word):
    """How many notes of the word index on this disk contain the word, deleted ones as well."""
    (words,) = folder.rglob("words")
    return open_index(words, FIELDS).searcher().doc_freq("all", tokens.lane_text([word]))


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_colleagues_erasure_takes_what_this_machine_derived_of_the_note(tmp_path, address, is_restarted):
    with open_library(tmp_path / "a", address) as machine:
        erased = machine.store("The quillon opens the vault", kind="decision")
        other_note = machine.store("The till closes at six", kind="decision")
        other = open_library(tmp_path / "b", address)
        assert titles(other, "quillon") == ["The quillon opens the vault"]
        other.settle()
        assert erased["number"] in other.memory.vectors.numbers()
        assert occurrences(tmp_path / "b", "quillon") == 1
        if is_restarted:
            other.close()
        finish(machine.erase([erased["id"]]))
        if is_restarted:
            other = open_library(tmp_path / "b", address)
        with other:
            assert titles(other, "quillon") == []
            assert other.memory.vectors.numbers() == {other_note["number"]}
            other.settle()
            assert occurrences(tmp_path / "b", "quillon") == 1  # the files keep deleted words
            assert other.memory.holds_erased
            finish(other.memory.forget())
            assert titles(other, "when does the till close?") == ["The till closes at six"]
            other.settle()
            assert not other.memory.holds_erased
            assert occurrences(tmp_path / "b", "quillon") == 0


def test_a_worker_forgets_what_a_colleague_erased_without_being_told(tmp_path, address):
    project = "shop-0123456789abcdef"
    worker = MemoryWorker(DataFolder(tmp_path / "b", Memory(database=address)))
    call = partial(MemoryCall, project=project, writes=False)
    with open_library(tmp_path / "a", address, project=project) as machine:
        erased = machine.store("The quillon opens the vault", kind="decision")
        try:
            worker.call(call("briefing"))
            while slices := worker.background():  # the model of notes reads them
                finish(slices)
            memory = worker.ready().memory
            memory.words.commit()
            assert memory.model.complete_at(memory.reached).numbers() == {erased["number"]}
            assert occurrences(tmp_path / "b", "quillon") == 1
            finish(machine.erase([erased["id"]]))
            worker.call(call("recall", {"query": "the vault"}))
            finish(worker.background())
            assert memory.vectors.numbers() == set()
            assert memory.model.complete_at(memory.reached).numbers() == set()
            assert occurrences(tmp_path / "b", "quillon") == 0
        finally:
            worker.close()


def test_members_of_a_team_embed_notes_by_models_of_their_own(tmp_path, address, models):  # noqa: F811
    folder = models.write(tmp_path / "words")
    embedding = Embedding(provider="onnx", model_path=str(folder))
    model = partial(open_apart, Config(root=tmp_path, embedding=embedding))
    with (
        open_library(tmp_path / "a", address) as machine,
        Library.open(tmp_path / "b", project="shop", driver=Server(address, "cortex"), model=model) as other,
    ):
        for title, is_ready in (("json decode", False), ("tcp socket", True)):
            machine.store(title)
            assert titles(other, title)[0] == title
            assert other.memory.meaning.model.startswith("words@") == is_ready
            finish(other.memory.model.steps())
            assert titles(other, title)[0] == title
            assert other.memory.meaning.model.startswith("words@")
        assert machine.memory.meaning.model == other.memory.vectors.model
        assert titles(machine, "tcp socket")[0] == "tcp socket"


def test_two_machines_that_write_at_once_lose_nothing_and_number_in_the_order_of_commits(tmp_path, address):
    previous, wrong = [], []

    def write(name):
        with open_library(tmp_path / name, address) as library:
            for at in range(20):
                library.store(f"Fact {at} of {name}", kind="fact")

    writers = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    with open_library(tmp_path / "reader", address) as reader:
        store = reader.memory.store
        for writer in writers:
            writer.start()
        while any(writer.is_alive() for writer in writers):
            current = [change[0] for change in store.changes_after(0, 10_000)]
            wrong += [
                number for number in current if number < max(previous, default=0) and number not in previous
            ]
            previous = current
        for writer in writers:
            writer.join()
        assert wrong == []
        assert reader.stats()["node_count"] == 40
        numbers = [change[0] for change in store.changes_after(0, 10_000)]
        assert numbers == sorted(set(numbers))
        assert len(titles(reader, "fact of a")) > 0


def test_a_write_that_is_sent_again_from_another_machine_is_carried_out_once(tmp_path, address):
    with (
        open_library(tmp_path / "a", address) as machine,
        open_library(tmp_path / "b", address) as other_machine,
    ):
        first = machine.store("Fact: the build takes nine minutes", operation_id="f" * 32)
        second = other_machine.store("Fact: the build takes nine minutes", operation_id="f" * 32)
        assert second["id"] == first["id"]
        assert other_machine.stats()["node_count"] == 1


WRITER = """
import sys
from pathlib import Path
from cortex.memory.note import Note
from cortex.memory.team.postgresql import Server
from cortex.memory.team.server_address import server_of
from cortex.memory.store.note_store import Store
from cortex.memory.team.postgresql import Server
store = Store(Path(sys.argv[1]), driver=Server(sys.argv[2], "cortex"))
for number in range(1000):
    print(store.put(Note(f"Fact {number}"), f"operation {number}").id, flush=True)
"""


def test_a_killed_writer_loses_no_acknowledged_note_and_stores_none_twice(tmp_path, address):
    command = [sys.executable, "-P", "-c", WRITER, str(tmp_path / "killed"), address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        acknowledged = [line.strip() for line, _ in zip(writer.stdout, range(25), strict=False)]
        writer.kill()
        acknowledged += [line.strip() for line in writer.stdout if line.endswith("\n")]
    with open_library(tmp_path / "other", address) as library:
        store = library.memory.store
        assert len(store.get(acknowledged)) == len(acknowledged) == len(set(acknowledged))
        for number in range(30):  # a caller without an answer sends it again
            store.put(Note(f"Fact {number}"), f"operation {number}")
        assert store.count()["notes"] == len({note.title for note in store.notes_by_number(range(1, 1001))})


def test_deleted_indexes_are_rebuilt(tmp_path, address):
    with open_library(tmp_path / "a", address) as library:
        library.store("Fact: the lift stops at midnight")
        indexes = library.memory.store.database.indexes(tmp_path / "a")
    assert indexes.is_dir()
    shutil.rmtree(indexes)
    with open_library(tmp_path / "a", address) as library:
        assert titles(library, "the lift stops at midnight") == ["Fact: the lift stops at midnight"]


def test_undo_without_an_id_reverts_the_latest_write_from_here_and_never_a_colleagues(tmp_path, address):
    with (
        open_library(tmp_path / "a", address) as machine,
        open_library(tmp_path / "b", address) as other_machine,
    ):
        machine.store("Fact: mine")
        other_machine.store("Fact: a colleague's")
        assert [note["title"] for note in machine.undo()["nodes"]] == ["Fact: mine"]
        with pytest.raises(NotFound, match="name the operation"):
            machine.undo()
        assert other_machine.stats()["node_counts_by_state"] == {"active": 1, "deleted": 1}
        machine.store("Fact: mine as well")
        machine.store("Fact: that a colleague takes back", operation_id="named")
        other_machine.undo("named")
        with pytest.raises(NotFound):
            machine.undo()
        assert [note["title"] for note in machine.undo()["nodes"]] == ["Fact: mine as well"]


def test_a_join_of_projects_on_one_machine_holds_on_the_other(tmp_path, address):
    with (
        open_library(tmp_path / "a", address) as machine,
        open_library(tmp_path / "b", address, project="clone") as other_machine,
    ):
        machine.store("Fact: of the shop")
        other_machine.link("shop")
        assert machine.memory.projects.home_of("clone") == "shop"
        other_machine.link(remove=True)
        assert machine.memory.projects.home_of("clone") == "clone"


def test_upkeep_runs_on_one_machine_at_a_time(tmp_path, address):
    with (
        open_library(tmp_path / "a", address) as machine,
        open_library(tmp_path / "b", address) as other_machine,
    ):
        with (
            machine.memory.store.database.alone() as free,
            other_machine.memory.store.database.alone() as other,
        ):
            assert (free, other) == (True, False)
        with other_machine.memory.store.database.alone() as free:
            assert free


def test_a_server_that_was_killed_is_named_and_serves_again_without_a_restart(tmp_path):
    with serving() as server, open_library(tmp_path / "a", server.address()) as library:
        library.store("Fact: it survives")
        server.stop()
        with pytest.raises(Unavailable, match=r"The memory cannot be .* postgresql"):
            library.recall("what survives?")
        with pytest.raises(Unavailable, match="cannot be written to"):
            library.store("Fact: not taken")
        server.start()
        assert titles(library, "it survives") == ["Fact: it survives"]
        assert library.stats()["node_count"] == 1


def test_a_worker_whose_server_is_away_at_the_start_says_so_and_serves_when_it_is_there(tmp_path):
    with serving() as server:
        data = DataFolder(tmp_path / "data", Memory(database=server.address()))
        server.stop()
        worker = MemoryWorker(data)
        try:
            with pytest.raises(Unavailable, match="cannot be"):
                worker.call(_call("stats"))
            assert "fault" in worker.status().info
            worker.reload()
            worker.patience()
            assert worker.background() is None
            server.start()
            worker._retry_at = 0.0  # a fault is repeated for a second without a new try
            assert worker.call(_call("stats")).answer["node_count"] == 0
            assert worker.status().info["database"].startswith("postgresql")
            with pytest.raises(BadRequest, match="pg_restore"):
                worker.call(_call("restore", channel="cli", writes=True))
            with pytest.raises(BadRequest, match="pg_dump"):
                list(worker.call(_call("backup", channel="cli")))
        finally:
            worker.close()


def _call(operation, channel="library", *, writes=False):
    return MemoryCall(
        operation=operation,
        arguments={},
        project="",
        agent="",
        session="",
        channel=channel,
        operation_id="",
        writes=writes,
    )


def test_an_index_of_another_history_is_rebuilt_although_its_numbers_fit(tmp_path, server):
    address = server.database()
    name = address.partition("@/")[2].partition("?")[0]
    with open_library(tmp_path / "a", address) as library, open_library(tmp_path / "b", address):
        library.store("Fact: both pasts know it")
    older = server.database(name)  # the state that pg_restore brings back
    with open_library(tmp_path / "a", address) as library:
        library.store("Fact: gulls are counted in May")
        library.memory.exchange_index.commit(wait=True)
    with open_library(tmp_path / "c", older) as other:
        other.store("Fact: herons are counted in June")
        other.store("Fact: so are storks")
    with open_library(tmp_path / "a", older) as library:
        assert titles(library, "when are herons counted?")[:1] == ["Fact: herons are counted in June"]
        assert "Fact: gulls are counted in May" not in titles(library, "when are gulls counted?")
        assert all(
            not difference
            for difference in library.memory.differences(library.memory.store.numbers()).values()
        )


def test_a_restored_history_is_noticed_at_the_next_query(tmp_path, server):
    address = server.database()
    name = address.partition("@/")[2].partition("?")[0]
    with open_library(tmp_path / "a", address) as library:
        library.store("Fact: both pasts know it")
        with server.connection(name) as connection:
            rows_before = connection.execute(text("SELECT * FROM cortex.note")).mappings().all()
        library.store("Fact: gulls are counted in May")
        assert titles(library, "when are gulls counted?") == ["Fact: gulls are counted in May"]
        with server.connection(name) as connection:  # an older state with as many changes
            connection.execute(
                text("DELETE FROM cortex.note WHERE number > :last"), {"last": rows_before[-1]["number"]}
            )
            connection.execute(text("UPDATE cortex.change SET mark = mark + 1 WHERE number > 1"))
        assert titles(library, "when are gulls counted?") == []
        assert set(library.memory.catalog.live()) == {rows_before[-1]["number"]}


def test_a_query_is_one_transaction_and_a_write_three(tmp_path, address):
    with open_library(tmp_path / "a", address) as library:
        library.store("Fact: gulls are counted in May")
        begun = []
        event.listen(
            library.memory.store.database._engine, "begin", lambda _connection: begun.append(get_ident())
        )
        assert titles(library, "when are gulls counted?") == ["Fact: gulls are counted in May"]
        assert begun.count(get_ident()) == 1
        library.store("Fact: herons are counted in June")  # one transaction finds similar notes
        assert begun.count(get_ident()) == 4
        library.memory.store.reached  # noqa: B018 - outside of a query each read is a separate transaction
        assert library.memory.store.newest.number == 2
        assert begun.count(get_ident()) == 6
        for month in ("April", "March", "February"):
            library.store(
                f"Fact: gulls are counted in {month} now, no longer in May, on the roof of the station"
            )
        begun.clear()
        # with newer notes that share no word with the question
        assert len(titles(library, "when are herons counted?")) > 1
        assert begun.count(get_ident()) == 1


def test_a_second_server_takes_over_by_the_address_alone(tmp_path):
    with serving() as first, serving() as second:
        both = f"postgresql://postgres@/postgres?host={first.folder}&host={second.folder}&target_session_attrs=read-write"
        with open_library(tmp_path / "a", both) as library:
            library.store("Fact: the first server knows it")
            list(migration_steps(library, second.address()))
            library.store("Fact: that never reached the second")
            first.stop()
            assert titles(library, "the first server knows it") == ["Fact: the first server knows it"]
            library.store("Fact: the second goes on")
            assert library.stats()["node_count"] == 2


def migration_steps(library, to, **more):
    """The steps of a migration; the last one is its answer."""
    from cortex.memory.team.relocation import migrate

    outcome = yield from migrate(library, to=to, **more)
    yield outcome


def migrate_to(library, to, **more):
    return list(migration_steps(library, to, **more))[-1]


@pytest.fixture
def roles(server):
    """A database with two teams and a role for each: {team: address}."""
    address = server.database()
    name = address.partition("@/")[2].partition("?")[0]
    with server.connection(name) as connection:
        for team in ("red", "blue"):
            role = f"{team}_of_{name}"
            connection.execute(text(f'CREATE ROLE "{role}" LOGIN'))
            connection.execute(text(f'CREATE SCHEMA {team} AUTHORIZATION "{role}"'))
    return {team: server.address(name, f"{team}_of_{name}") for team in ("red", "blue")}


def test_a_team_sees_nothing_of_another_and_its_role_may_not(tmp_path, roles):
    with (
        open_library(tmp_path / "r", roles["red"], "red") as red,
        open_library(tmp_path / "b", roles["blue"], "blue") as blue,
    ):
        red.store("Fact: red's own")
        assert titles(blue, "whose own is it?") == []
        assert red.memory.store.database.warnings() == []
    with pytest.raises(CortexError, match="may not use the schema red"):
        open_library(tmp_path / "c", roles["blue"], "red")


def test_a_role_that_sees_every_team_is_warned_of(tmp_path, address):
    with open_library(tmp_path / "a", address) as library:
        assert "superuser" in library.memory.store.database.warnings()[0]


@pytest.fixture
def filled(data):
    """A folder with notes, a history, an edge, and an erased note."""
    with Library.open(data, project="shop") as library:
        first = library.store("Decision: orders are written twice", tags=["orders"], scope="global")
        second = library.store("Fact: the ledger is append-only")
        library.relate(first["id"], second["id"], "relates-to")
        gone = library.store("Fact: a password was here")
        list(library.erase([gone["id"]]))
        library.forget(second["id"])
        list(library.export_file(str(data.parent / "all.jsonl")))
    return data


def test_a_store_is_moved_with_its_ids_and_back_again(filled, address, tmp_path):
    back = tmp_path / "back"
    with Library.open(filled, project="shop") as source:
        outcome = migrate_to(source, address)
        assert outcome["rows"]["note"] == 2
        assert outcome["rows"]["forgotten"] > 0
        notes = source.memory.store.get([1, 2])
        with open_library(tmp_path / "there", address) as target:
            assert target.memory.store.get([1, 2]) == notes
            assert target.memory.store.database.key() == source.memory.store.database.key()
            assert titles(target, "how are orders written?") == ["Decision: orders are written twice"]
            assert target.store("Fact: a later one")["id"]
            assert migrate_to(target, str(back))["rows"]["note"] == 3
    with Library.open(back, project="shop") as restored:
        assert restored.memory.store.get([1, 2]) == notes
        assert restored.memory.store.database.check() == []


def test_nul_characters_are_removed_when_a_store_is_moved_to_a_server(filled, address, tmp_path):
    with Library.open(filled, project="shop") as source, source.memory.store.database.write() as connection:
        connection.execute(text("UPDATE note SET body = 'tw' || char(0) || 'ice' WHERE number = 1"))
    with Library.open(filled, project="shop") as source:
        migrate_to(source, address)
    with open_library(tmp_path / "there", address) as target:
        assert target.memory.store.get([1])[0].body == "twice"
        with pytest.raises(BadRequest, match="does not take this value"):
            target.memory.store.get(["a\0b"])


def test_a_process_with_the_empty_target_open_hashes_with_the_moved_secret(filled, address, tmp_path):
    with open_library(tmp_path / "early", address) as early, Library.open(filled) as source:
        migrate_to(source, address)
        assert early.memory.store.database.key() == source.memory.store.database.key()


def test_upkeep_skips_a_note_that_a_colleague_changed_meanwhile(tmp_path, address):
    with (
        open_library(tmp_path / "a", address) as machine,
        open_library(tmp_path / "b", address) as other_machine,
    ):
        stored = [machine.store(f"Fact: number {at}", kind="fact") for at in range(2)]
        notes = machine.memory.store.get([row["id"] for row in stored])
        other_machine.memory.store.edit(stored[0]["id"], {"body": "it is needed"})
        with machine.memory.store.transaction() as records:
            fading._change_state(records, notes, "archived")
        current = other_machine.memory.store.get([row["id"] for row in stored])
        assert [(note.body, note.state) for note in current] == [("it is needed", "active"), ("", "archived")]


def test_memory_is_never_moved_over_existing_memory(filled, address, tmp_path):
    with open_library(tmp_path / "there", address) as target:
        target.store("Fact: it was here before")
    with Library.open(filled) as source, pytest.raises(BadRequest, match="holds memory already"):
        migrate_to(source, address)
    with open_library(tmp_path / "there", address) as target:
        assert target.stats()["node_count"] == 1


def test_a_write_during_a_move_cancels_it_and_leaves_the_target_empty(filled, address, tmp_path):
    with Library.open(filled) as source:
        moving = migration_steps(source, address)
        next(moving)
        source.store("Fact: meanwhile")
        with pytest.raises(Unavailable, match="meanwhile"):
            list(moving)
        assert migrate_to(source, address)["rows"]["note"] == 3


def test_a_store_of_a_newer_version_is_refused_and_stays_as_it_is(tmp_path, server, address):
    name = address.partition("@/")[2].partition("?")[0]
    with server.connection(name) as connection:
        connection.execute(text("UPDATE cortex.alembic_version SET version_num = '9999'"))
    with pytest.raises(Misconfigured, match="newer Cortex"):
        open_library(tmp_path / "a", address)


def test_an_older_store_gets_the_tables_columns_and_indexes_that_it_lacks(tmp_path, server, address):
    with open_library(tmp_path / "a", address) as library:
        library.store("Fact: it was here before")
    name = address.partition("@/")[2].partition("?")[0]
    with server.connection(name) as connection:
        for statement in (
            "ALTER TABLE cortex.note DROP COLUMN topic",
            "DROP INDEX cortex.note_by_type",
            "DROP TABLE cortex.candidate",
            "UPDATE cortex.alembic_version SET version_num = '0006'",
        ):
            connection.execute(text(statement))
    with open_library(tmp_path / "a", address) as library:
        assert library.stats()["node_count"] == 1
        assert library.store("Port 5433 is the database's", topic="database port")["number"] == 2
    indexes = text("SELECT indexname FROM pg_indexes WHERE schemaname = 'cortex'")
    with server.connection(name) as connection:
        names = set(connection.execute(indexes).scalars())
        version = connection.execute(text("SELECT version_num FROM cortex.alembic_version")).scalar()
    assert {"note_by_topic", "note_by_type", "candidate_by_hash"} <= names
    assert version == VERSION


def test_machines_that_open_an_empty_place_at_once_make_one_store(tmp_path, server):
    address, keys = server.database(), []

    def begin(name):
        with open_library(tmp_path / name, address) as library:
            keys.append(library.memory.store.database.key())

    beginning = [threading.Thread(target=begin, args=(name,)) for name in "abc"]
    for thread in beginning:
        thread.start()
    for thread in beginning:
        thread.join()
    assert len(keys) == 3
    assert len(set(keys)) == 1


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (Memory(database="mysql://host/db"), "begins with mysql://"),
        (Memory(database="no address"), "is no address"),
        (Memory(database="$NO_SUCH_VARIABLE_HERE"), "no such variable"),
        (Memory(database="postgresql://host/db", team="Red"), "memory.team is 'Red'"),
        (Memory(database="postgresql://host/db", team="public"), "memory.team is 'public'"),
        (Memory(database="postgresql://host/db", team="pg_x"), "memory.team is 'pg_x'"),
    ],
)
def test_an_invalid_setting_is_named(tmp_path, settings, sentence):
    with pytest.raises(Misconfigured, match=sentence.replace("$", r"\$")):
        Library.open(tmp_path / "data", driver=server_of(DataFolder(tmp_path / "data", settings)))


@pytest.mark.parametrize(
    ("address", "excerpt"),
    [
        ("postgresql://someone:geheim@127.0.0.1:1/db", "someone:***@127.0.0.1"),
        ("postgresql://someone@127.0.0.1:1/db?password=geheim", "someone@127.0.0.1:1/db "),
        ("postgresql://someone:ge@heim@127.0.0.1:1/db", "%40"),
        ("postgresql://127.0.0.1:geheim/db", "no address"),
    ],
)
def test_a_password_is_in_no_message_and_no_process_argument(tmp_path, monkeypatch, address, excerpt):
    monkeypatch.setenv("TEAM_MEMORY", address)
    where = server_of(DataFolder(tmp_path / "a", Memory(database="$TEAM_MEMORY")))
    with pytest.raises((Unavailable, Misconfigured)) as caught:
        Library.open(tmp_path / "a", driver=where)
    assert "heim" not in str(caught.value)
    assert excerpt in str(caught.value)


def test_memory_is_moved_by_its_command(filled, address, tmp_path):
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    environment = os.environ | {
        "TEAM_MEMORY": address,
        "HOME": str(tmp_path),
        "CORTEX_HOME": str(tmp_path / "cache"),
    }
    command = [sys.executable, "-m", "cortex", "memory"]
    where = ["--data-dir", str(filled)]

    def run(*arguments):
        return subprocess.run(
            [*command, *arguments],
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
            env=environment,
            cwd=project,
        )

    done = run("migrate", "--to", "$TEAM_MEMORY", *where)
    assert done.returncode == 0, done.stderr
    assert "compared with the source: 2 notes" in done.stdout
    environment["CORTEX_MEMORY_DATABASE"] = "$TEAM_MEMORY"
    counted = run("stats", "--data-dir", str(tmp_path / "other"))
    assert "1 note" in counted.stdout, (counted.stdout, counted.stderr)
    for folder in (filled, tmp_path / "other"):
        assert run("down", "--data-dir", str(folder)).returncode == 0
