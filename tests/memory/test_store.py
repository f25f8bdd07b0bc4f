"""The store: acknowledged writes are durable, repeated ones are carried out once, nothing is
lost.
"""

import os
import signal
import sqlite3
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from cortex.memory.migrations.current_tables import bring_to_current_tables
from cortex.memory.note import Note
from cortex.memory.store.database import NAME, VERSION
from cortex.memory.store.driver import PLAIN
from cortex.memory.store.note_store import Store
from cortex.system.errors import BadRequest, Damaged, Misconfigured, NotFound, TooLarge

STORES = Path(__file__).parent / "stores"

#: stores notes until it is killed, and prints the id of each
WRITER = """
import sys
from itertools import pairwise
from pathlib import Path
from cortex.memory.migrations.current_tables import bring_to_current_tables
from cortex.memory.note import Note
from cortex.memory.store.note_store import Store
store = Store(Path(sys.argv[1]))
for number in range(100_000):
    print(store.put(Note(f"{sys.argv[2]} {number}"), f"{sys.argv[2]}-{number}").id, flush=True)
"""


@pytest.fixture
def store(data):
    store = Store(data)
    yield store
    store.close()


def test_the_first_operation_of_a_store_is_done_whole_or_not_at_all(store):
    def break_off(records):
        records.insert(Note("half of it"))
        raise BadRequest("not this")

    with pytest.raises(BadRequest, match="not this"):
        store.once("", "put", {}, break_off)
    assert store.count()["notes"] == 0


def test_a_note_comes_back_as_it_was_stored(store):
    note = Note(
        "Use tantivy for words",
        "because it is fast",
        kind="decision",
        facts=("one", "two"),
        labels=("Search Engine", "rust_code", "search engine"),
        files=("src\\a.py", "./b.py"),
        metadata={"depth": [1, {"two": None}]},
        project="p",
        importance=0.8,
        occurred_at=1_700_000_000_000,
    )
    written = store.put(note)
    stored = store.need(written.id)
    assert (stored.title, stored.body, stored.kind, stored.facts) == (
        note.title,
        note.body,
        note.kind,
        note.facts,
    )
    assert stored.labels == ("search-engine", "rust-code")
    assert stored.files == ("src/a.py", "b.py")
    assert stored.metadata == note.metadata
    assert (stored.project, stored.importance, stored.occurred_at) == ("p", 0.8, 1_700_000_000_000)
    assert store.need(written.number) == store.need(str(written.number)) == stored


def test_storing_an_equal_note_again_loses_nothing_of_either(store):
    first = store.put(Note("Use  Tantivy", "the old reason", kind="decision", labels=("a",), importance=0.9))
    second = store.put(Note("use tantivy", "the new reason", kind="decision", labels=("b",), importance=0.2))
    assert second.merged
    assert second.id == first.id
    note = store.need(first.id)
    assert (note.body, note.labels, note.importance) == ("the new reason", ("a", "b"), 0.9)
    assert [revision["body"] for _, revision in store.revisions(note.number)] == ["the old reason"]


@pytest.mark.parametrize(
    "other", [Note("A title", kind="goal"), Note("A title", project="q"), Note("A title!", project="p")]
)
def test_notes_of_another_kind_project_or_title_are_not_merged(store, other):
    assert store.put(Note("A title", project="p")).id != store.put(other).id


def test_an_operation_is_carried_out_once_and_answers_twice(store):
    first = store.put(Note("A title"), "op")
    assert store.put(Note("A title"), "op") == first
    assert store.count()["notes"] == 1
    with pytest.raises(BadRequest, match="used for another call"):
        store.put(Note("Another title"), "op")


def test_an_edit_keeps_the_old_form_as_a_revision(store):
    note = store.put(Note("A title", "before"))
    store.edit(note.id, {"body": "after"})
    assert store.need(note.id).body == "after"
    assert [revision["body"] for _, revision in store.revisions(note.number)] == ["before"]
    with pytest.raises(BadRequest, match="'trust' cannot be changed"):
        store.edit(note.id, {"trust": "user"})


def test_relating_twice_makes_one_edge_and_a_note_to_itself_none(store):
    source, target = store.put(Note("one")), store.put(Note("two"))
    first = store.relate(source.id, target.id, "depends-on")
    second = store.relate(source.id, target.id, "depends_on")
    assert first["id"] == second["id"]
    assert second["existed"]
    with pytest.raises(BadRequest, match="itself"):
        store.relate(source.id, source.number)
    with pytest.raises(NotFound, match="no note"):
        store.relate(source.id, "01234567-0000-7000-8000-000000000000")


def test_caused_by_is_stored_as_causes_in_reverse(store):
    source, target = store.put(Note("one")), store.put(Note("two"))
    store.relate(source.id, target.id, "caused-by")
    (edge,) = store.edges_of([source.number])
    assert (edge.source, edge.target, edge.relation) == (target.number, source.number, "causes")


def test_a_superseding_note_ends_the_old_one_with_an_edge(store):
    old, new = store.put(Note("old")), store.put(Note("new"))
    store.edit(old.id, {}, superseded_by=new.id)
    note = store.need(old.id)
    assert (note.state, note.superseded_by) == ("superseded", new.number)
    assert note.valid_until >= note.created_at
    assert [edge.relation for edge in store.edges_of([old.number])] == ["supersedes"]


def test_changes_are_listed_in_the_order_of_their_commits(store):
    source, target = store.put(Note("one")), store.put(Note("two"))
    store.relate(source.id, target.id)
    store.edit(source.id, {"body": "more"})
    changes = store.changes_after(0, 100)
    assert [(what, number) for _, what, number in changes] == [
        ("note", source.number),
        ("note", target.number),
        ("edge", 1),
        ("note", source.number),
    ]
    assert store.changes_after(changes[-1][0], 100) == []


@pytest.mark.parametrize(
    ("note", "sentence"),
    [
        (Note(""), "title is empty"),
        (Note("t" * 10_000), "title has 10000 characters"),
        (Note("t", "x" * 5_000_000), "body has 5000000 bytes"),
        (Note("t", importance=7), "importance is 7"),
        (Note("t", kind="two words"), "kind is 'two words'"),
        (Note("t", labels=tuple(f"label{n}" for n in range(10_000))), "10000 tags"),
        (Note("t", metadata={"a": {1, 2}}), "no JSON"),
    ],
)
def test_an_invalid_note_is_refused_with_a_sentence(store, note, sentence):
    with pytest.raises((BadRequest, TooLarge), match=sentence):
        store.put(note)
    assert store.count()["notes"] == 0


def test_nul_and_lone_surrogates_are_left_out(store):
    note = store.need(store.put(Note("a\x00b\ud800c", "d\x1be\nf")).id)
    assert (note.title, note.body) == ("abc", "de\nf")


def test_no_secret_reaches_the_database(store, tmp_path):
    token = "ghp_" + "A1b2C3d4" * 5
    note = Note(
        f"token {token}",
        f"in {token}",
        facts=(token,),
        labels=(token,),
        files=(token,),
        metadata={token: token},
    )
    assert store.put(note).removed == ("GitHub token",)
    store.close()
    assert not [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and token.lower().encode() in path.read_bytes().lower()
    ]


def test_one_process_owns_the_folder(store, data):
    with pytest.raises(Misconfigured, match=f"Process {os.getpid()} already serves"):
        Store(data)


def test_files_and_folders_are_for_their_owner_alone(tmp_path):
    store = Store(tmp_path / "data")
    store.put(Note("one"))
    store.database.back_up()
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    assert not [path for path in (tmp_path / "data").rglob("*") if path.stat().st_mode & 0o077]
    store.close()


def test_a_file_that_is_no_database_is_named_and_unchanged(tmp_path):
    (tmp_path / NAME).write_bytes(b"not a database, but somebody's bytes" * 100)
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(Damaged, match="is damaged"):
        Store(tmp_path)
    assert (tmp_path / NAME).read_bytes() == before


@pytest.mark.of_the_file
def test_a_store_of_a_newer_version_is_refused_and_stays_as_it_is(data):
    with sqlite3.connect(data / NAME) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(Misconfigured, match="newer Cortex"):
        Store(data)


@pytest.mark.of_the_file
def test_a_late_migration_leaves_the_version_of_a_newer_one(data):
    with PLAIN.engine(data / NAME).connect() as connection:
        for version, written in (("9999", "9999"), ("0003", VERSION)):
            connection.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": version})
            connection.commit()
            bring_to_current_tables(connection)
            assert connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all() == [
                written
            ]
            connection.commit()


@pytest.mark.of_the_file
def test_a_migrated_store_has_exactly_the_tables_of_a_new_one(data, tmp_path):
    (older := tmp_path / "older").mkdir(mode=0o700)
    with sqlite3.connect(older / NAME) as connection:
        connection.executescript((STORES / "version-0001.sql").read_text(encoding="utf-8"))
    connection.close()
    Store(older).close()
    tables = tables_in(data)
    assert tables_in(older) == tables
    assert {"note", "candidate", "upkeep"} < tables.keys()


def tables_in(folder):
    """Table → (columns with type, default and NOT NULL, primary key, references, unique sets,
    indexes).
    """
    with PLAIN.engine(folder / NAME).connect() as connection:
        inspector = inspect(connection)
        return {
            name: (
                sorted(
                    (c["name"], str(c["type"]), c["default"], c["nullable"])
                    for c in inspector.get_columns(name)
                ),
                inspector.get_pk_constraint(name)["constrained_columns"],
                sorted(map(repr, inspector.get_foreign_keys(name))),
                sorted(map(repr, inspector.get_unique_constraints(name))),
                sorted(map(repr, inspector.get_indexes(name))),
            )
            for name in inspector.get_table_names()
        }


@pytest.mark.of_the_file
def test_a_change_of_the_tables_raises_their_version(data):
    golden = STORES / f"tables-{VERSION}.txt"
    lines = "".join(f"{name}: {parts}\n" for name, parts in sorted(tables_in(data).items()))
    if os.environ.get("CORTEX_UPDATE_GOLDEN"):
        golden.write_text(lines, encoding="utf-8")
    assert lines == golden.read_text(encoding="utf-8"), "raise VERSION in cortex/memory/store/tables.py"


@pytest.mark.of_the_file
def test_a_back_up_holds_the_committed_notes(store):
    store.put(Note("one"))
    copy = store.database.back_up()
    with sqlite3.connect(copy) as connection:
        assert connection.execute("SELECT title FROM note").fetchall() == [("one",)]
    connection.close()


@pytest.mark.of_the_file
def test_a_killed_writer_loses_no_acknowledged_note_and_stores_none_twice(data):
    acknowledged: list[str] = []
    for name in ("first", "second", "third"):
        writer = subprocess.Popen(
            [sys.executable, "-P", "-c", WRITER, str(data), name], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        acknowledged += [line.strip() for line, _ in zip(writer.stdout, range(25), strict=False)]
        os.kill(writer.pid, signal.SIGKILL)
        acknowledged += [line.strip() for line in writer.stdout if line.endswith("\n")]
        writer.wait()
        writer.stdout.close()
    store = Store(data)
    notes = store.get(acknowledged)
    assert len(notes) == len(acknowledged) == len(set(acknowledged))
    # A caller without an answer repeats its write: the last write of each may be stored without
    # one.
    for name in ("first", "second", "third"):
        for number in range(30):
            store.put(Note(f"{name} {number}"), f"{name}-{number}")
    assert len({note.title for note in store.notes_by_number(range(1, 1000))}) == store.count()["notes"]
    store.close()


def test_the_news_of_a_write_equal_the_contents_of_the_store(store):
    first = store.put(
        Note(title="As it was", body="one", labels=("a",), files=("x.py",), metadata={"n": 1.5})
    )
    news = [store.news]
    other = store.put(Note(title="Another", facts=("it is so",)), supersedes=[first.id])
    news.append(store.news)
    store.put(Note(title="as it was ", body="two"))
    news.append(store.news)
    store.edit(other.id, {"labels": ("b", "c"), "occurred_at": 5})
    news.append(store.news)
    assert set(news[1].notes) == {first.number, other.number}
    assert len(news[1].edges) == 1
    for before, after in pairwise(news):
        assert before.reached == after.after
    newest = {}
    for entry in news:
        newest |= entry.notes
    assert list(newest.values()) == store.notes_by_number(list(newest))
    assert news[-1].reached.number == store.reached == store.changes_after(0, 100)[-1][0]
    store.erase([other.id])
    assert store.news.notes[other.number] is None
