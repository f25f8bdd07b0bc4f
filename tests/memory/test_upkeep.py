"""Faults of a store: damage is named or mended, back-ups are kept, erased notes leave no trace."""

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from cortex.memory.find.catalog import Selection
from cortex.memory.library import Library, finish
from cortex.memory.note import Source
from cortex.memory.observations.health import check_system_health
from cortex.memory.store.database import NAME, Database
from cortex.memory.store.driver import PLAIN, Driver
from cortex.memory.store.note_store import Store
from cortex.system import files
from cortex.system.errors import Damaged, NotFound, Unavailable

SECRET_WORD = "xylophonequartz"


@pytest.fixture
def memory(data):
    with Library.open(data, project="here") as memory:
        yield memory


def fill(memory, count=5):
    return [memory.store(f"Note of number {at}", f"What is said in number {at}")["id"] for at in range(count)]


def traces(folder, word):
    return [
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and word.encode() in path.read_bytes().lower()
    ]


def test_a_healthy_store_is_reported_as_healthy(memory):
    ids = fill(memory)
    memory.relate(ids[0], ids[1])
    memory.forget(ids[4])
    report = finish(memory.doctor())
    assert report == {"healthy": True, "findings": [], "notes": 4, "edges": 1, "back_ups": []}


def test_a_quick_check_goes_on_after_the_last_one(memory):
    database = memory.memory.store.database
    wrong, tables, left = database.glance(60)
    assert (wrong, left) == ([], [])
    assert {"note", "edge", "revision"} <= set(tables)
    visited = []
    for _ in tables:
        wrong, looked, left = database.glance(0)
        assert (wrong, len(looked), len(left)) == ([], 1, len(tables) - 1)
        visited += looked
    assert visited == tables


def test_health_is_bad_where_a_page_of_the_store_is_damaged(data):
    with Library.open(data) as memory:
        fill(memory)
    with contextlib.closing(sqlite3.connect(data / NAME)) as raw:
        page = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'revision'").fetchone()[0]
        size = raw.execute("PRAGMA page_size").fetchone()[0]
    good = (data / NAME).read_bytes()
    (data / NAME).write_bytes(good[: (page - 1) * size] + b"\xff" * size + good[page * size :])
    with Library.open(data) as memory:
        reports = [check_system_health(memory, {}) for _ in range(20)]
    sick = [report for report in reports if report["subsystems"]["database"]["status"] == "error"]
    assert sick
    assert sick[0]["health_score"] == 50
    assert "restore" in sick[0]["recommended_actions"][0]


@pytest.mark.parametrize("index", ["words", "vectors", "edges"])
def test_an_incomplete_index_is_detected_and_rebuilt(memory, index):
    ids = fill(memory)
    memory.relate(ids[0], ids[1])
    inner = memory.memory
    if index == "words":
        inner.words.take(inner.words.reached, [], [1, 2])
        inner.words.commit()
    elif index == "vectors":
        inner.vectors.drop([1, 2])
    else:
        inner.links.take([], [1])
    before = finish(memory.doctor(mend=False))
    assert [finding["what"] for finding in before["findings"]] == [index]
    assert not before["healthy"]
    after = finish(memory.doctor())
    assert [(finding["what"], finding["mended"]) for finding in after["findings"]] == [(index, True)]
    assert finish(memory.doctor())["findings"] == []
    assert memory.search("note of number 1")[0]["id"] == ids[1]
    assert len(memory.node(ids[0])["edges"]) == 1


def test_an_index_deleted_during_use_is_rebuilt(memory, data):
    ids = fill(memory, 3)
    memory.memory.words.commit()
    shutil.rmtree(data / "index" / "words")
    memory.import_records([{"note": {"title": f"much later {at}"}} for at in range(300)])
    assert memory.search("note of number 1")[0]["id"] == ids[1]
    assert finish(memory.doctor())["healthy"]


def test_a_wrong_key_of_a_note_is_mended(memory, data):
    fill(memory, 2)
    with sqlite3.connect(data / NAME) as connection:
        connection.execute("UPDATE note SET same = 'x' WHERE number = 1")
    connection.close()
    report = finish(memory.doctor())
    assert report["findings"] == [{"what": "database", "found": "1 notes with a wrong key", "mended": True}]
    assert memory.store("Note of number 0")["deduplicated"]


def test_files_that_others_may_read_are_closed(memory, data):
    (data / NAME).chmod(0o644)
    assert [finding["what"] for finding in finish(memory.doctor())["findings"]] == ["mode"]
    assert (data / NAME).stat().st_mode & 0o077 == 0


def test_the_newest_three_back_ups_stay_and_are_for_their_owner(memory):
    fill(memory, 1)
    for _ in range(5):
        answer = finish(memory.back_up())
    assert len(answer["back_ups"]) == 3
    assert answer["back_ups"][0]["file"] == answer["file"]
    assert [os.stat(copy["file"]).st_mode & 0o777 for copy in answer["back_ups"]] == [0o600] * 3


def test_a_damaged_database_is_named_with_its_newest_back_up_and_stays(data):
    with Library.open(data) as memory:
        fill(memory, 20)
        copy = finish(memory.back_up())["file"]
    raw = bytearray((data / NAME).read_bytes())
    raw[100:4096] = b"\xff" * 3996
    (data / NAME).write_bytes(raw)
    with pytest.raises(Damaged, match=r"cortex memory restore --data-dir .* puts the newest back-up"):
        Library.open(data)
    assert (data / NAME).read_bytes() == raw
    shutil.copy(copy, data / NAME)
    with Library.open(data) as memory:
        assert memory.stats()["node_count"] == 20


def test_damage_inside_the_file_is_reported(data):
    with Library.open(data) as memory:
        memory.import_records(
            [{"note": {"title": f"Note {at}", "body": "word " * 2000}} for at in range(100)]
        )
        memory.memory.store.database.truncate_log()
        size = (data / NAME).stat().st_size
        with (data / NAME).open("r+b") as file:
            file.seek(size // 2 // 4096 * 4096)
            file.write(b"\xff" * 4096 * 20)
    assert examine_folder(data) != "healthy"


def examine_folder(folder):
    """The error of opening the store, or the first finding of the doctor."""
    try:
        with Library.open(folder) as memory:
            report = finish(memory.doctor())
            return "healthy" if report["healthy"] else report["findings"][0]["found"]
    except Damaged as error:
        return str(error)


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable, match="cannot be used"):
        Store(tmp_path / "file" / "data")


def test_a_full_disk_is_a_sentence_and_loses_nothing(memory):
    ids = fill(memory, 3)
    with memory.memory.store.database.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(Unavailable, match="cannot be written"):
        memory.store("too large for what is left", "x" * 200_000)
    with memory.memory.store.database.read() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    assert [memory.node(note_id)["id"] for note_id in ids] == ids
    assert memory.store("fits again")["id"]


@pytest.mark.parametrize("driver", [PLAIN, Driver(bytes(32))], ids=["plain", "sealed"])
def test_an_older_store_is_copied_before_it_is_brought_up_to_date(data, driver):
    if driver.key:
        pytest.importorskip("sqlcipher3")
    files.make_private(data)
    files.replace(data / NAME, b"")
    statements = (Path(__file__).parent / "stores" / "version-0001.sql").read_text(encoding="utf-8")
    with driver.connected(data / NAME) as connection:
        connection.executescript(statements)
    with Library.open(data, driver=driver) as memory:
        note = memory.node(1)
        assert (note["title"], note["files"]) == ("The oldest", ["a/b.py"])
        assert memory.store("and it takes new ones", files=["a/b.py"])["number"] == 2
    assert len(list((data / "backups").glob("*.sqlite3"))) == 1


def test_an_erased_note_leaves_no_trace_and_does_not_come_back(data, tmp_path):
    with Library.open(data, project="here") as memory:
        ids = fill(memory)
        secret_note = memory.store(
            f"The {SECRET_WORD} of the house", f"about {SECRET_WORD}", tags=[SECRET_WORD], operation_id="op"
        )
        memory.edit(secret_note["id"], body=f"changed {SECRET_WORD}")
        memory.relate(secret_note["id"], ids[0])
        finish(memory.export_file(tmp_path / "all.jsonl"))
        finish(memory.back_up())
        memory.memory.words.commit()
        done = finish(memory.erase([secret_note["id"]], back_ups=True))
        assert (done["ids"], done["back_ups_rewritten"]) == ([secret_note["id"]], 1)
        assert memory.search(f"what is the {SECRET_WORD}") == []
        assert memory.search("what is the house", include=["superseded"]) == []
        with pytest.raises(NotFound):
            memory.node(secret_note["id"])
        assert memory.node(ids[0])["edges"] == []
        second = finish(memory.import_file(tmp_path / "all.jsonl"))
        assert (second["notes"], second["forgotten"]) == (0, 1)
        record = {"note": {"title": f"The {SECRET_WORD} of the HOUSE", "body": f"about  {SECRET_WORD}"}}
        assert memory.import_records([record])["forgotten"] == 1
        assert finish(memory.doctor())["healthy"]
    assert traces(data, SECRET_WORD) == []


def test_erasing_with_an_unknown_note_erases_none(memory):
    ids = fill(memory, 2)
    with pytest.raises(NotFound):
        finish(memory.erase([ids[0], "no-such-note"]))
    assert memory.node(ids[0])["id"] == ids[0]


def test_a_new_note_never_gets_the_number_of_an_erased_one(memory):
    number = memory.node(fill(memory, 2)[1])["number"]
    finish(memory.erase([number]))
    assert memory.node(memory.store("the next one")["id"])["number"] > number


def test_the_secret_of_a_store_stays_the_same(data):
    first = Database(data)
    key = first.key()
    first.close()
    second = Database(data)
    assert second.key() == key
    second.close()


def test_a_catalog_that_follows_changes_equals_a_reloaded_one(memory):
    ids = [
        memory.of(source=Source("ada", session)).store(title, body, kind=kind, tags=tags)["id"]
        for session, title, body, kind, tags in (
            ("first", "Ada: shall we move the cache?", "Shall we move it on Monday?", "event", ["cache"]),
            ("first", "Ben: yes, after the release", "", "event", ["cache", "release"]),
            ("second", "The cache is on its own disk", "Since last week.", "fact", []),
            ("first", "Ada: it is moved", "It took three hours.", "event", ["open-question"]),
        )
    ]
    memory.edit(ids[0], tags=["disk"], importance=0.9)
    memory.forget(ids[2])
    memory.node(ids[3])
    memory.relate(ids[0], ids[3])
    finish(memory.erase([ids[1]]))
    memory.memory.follow()
    followed, links = memory.memory.catalog, memory.memory.links
    finish(memory.memory.rebuild("edges"))
    opened = memory.memory.catalog
    present = followed["there"]
    assert np.flatnonzero(present).tolist() == [1, 3, 4]
    for column in (
        "there",
        "asks",
        "asking",
        "timed",
        "kind",
        "state",
        "updated",
        "uses",
        "before",
        "after",
    ):
        assert (followed[column][present] == opened[column][present]).all(), column
    assert followed.lengths[followed["session"][1]] == opened.lengths[opened["session"][1]] == 2
    for label in ("cache", "disk", "open-question"):
        selection = Selection(labels=(label,))
        assert (followed.mask(selection) == opened.mask(selection)).all(), label
    assert links.numbers() == memory.memory.links.numbers()


def test_indexes_newer_than_a_restored_back_up_are_rebuilt(data):
    with Library.open(data) as memory:
        fill(memory, 3)
        copy = finish(memory.back_up())["file"]
        memory.store("The lighthouse keeper", "It is painted green")
        memory.store("The second lighthouse", "It is painted green, too")
    shutil.copy(copy, data / NAME)
    with Library.open(data) as memory:
        assert finish(memory.doctor(mend=False))["findings"] == []
        assert memory.search("the green lighthouse") == []
        new = memory.store("Bread is baked on Tuesdays", "With rye")["id"]
        assert [row["id"] for row in memory.search("when is bread baked")] == [new]
