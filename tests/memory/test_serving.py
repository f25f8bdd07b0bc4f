"""The worker that owns the store: one sentence for every fault, and no acknowledged write is
lost.
"""

import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs

from cortex.memory import doctor, serving
from cortex.memory.doctor import warn_of_network_folder
from cortex.memory.library import finish
from cortex.memory.operations import OPERATIONS
from cortex.memory.serving import MemoryWorker, open_worker
from cortex.memory.store import copies
from cortex.memory.store.database import NAME
from cortex.settings.data import DataFolder
from cortex.system.errors import BadRequest, Damaged, Misconfigured, NotFound, Unavailable
from cortex.system.folders.mounts import file_system
from ipc.codec import decode, encode
from ipc.messages import Failure, GetStatus, MemoryAnswer, MemoryCall
from ipc.service import answer


@pytest.fixture
def worker(data):
    memory_worker = open_worker(DataFolder(data))
    yield memory_worker
    memory_worker.close()


def ask(worker, operation, *, writes=True, operation_id="", **arguments):
    return worker.call(MemoryCall(operation, arguments, writes, operation_id, "here")).answer


def count(worker):
    return ask(worker, "stats", writes=False)["node_count"]


def test_a_call_applies_to_its_project(worker):
    ask(worker, "store", title="The staging database runs PostgreSQL 15")
    other = MemoryCall("recall", {"query": "which version of postgres is on staging"}, False, "", "elsewhere")
    assert ask(worker, "recall", writes=False, query="which version of postgres is on staging")["results"]
    assert worker.call(other).answer["results"] == []


def test_a_write_that_is_sent_twice_is_carried_out_once(worker):
    first = ask(worker, "store", operation_id="op-1", title="Retries use back-off")
    second = ask(worker, "store", operation_id="op-1", title="Retries use back-off")
    assert first["id"] == second["id"]
    assert count(worker) == 1


def test_a_call_ends_the_reading_of_notes_that_wait(worker):
    for title in ("Retries use back-off", "The staging database runs PostgreSQL 15", "Lunch is at noon"):
        ask(worker, "store", title=title)
    replacements = worker.ready().memory.replacements
    replacements.waiting = [1, 2, 3]
    assert worker.background() is None
    worker._last_call -= serving.PAUSE_S
    reading = worker.background()
    next(reading)
    assert replacements.waiting == [1, 2]
    ask(worker, "stats", writes=False)
    with pytest.raises(StopIteration):
        next(reading)
    assert replacements.waiting == [1, 2]


def test_a_writing_operation_is_refused_as_a_read(worker):
    for operation in (entry for entry in OPERATIONS.values() if entry.writes):
        with pytest.raises(BadRequest, match="writes"):
            ask(worker, operation.name, writes=False)


def test_an_unknown_operation_and_an_unknown_channel_are_named(worker):
    with pytest.raises(BadRequest, match="'dance'"):
        ask(worker, "dance", writes=False)
    with pytest.raises(BadRequest, match="'radio'"):
        worker.call(MemoryCall("stats", {}, False, channel="radio"))


def test_trust_follows_from_the_channel_alone(worker):
    for channel, trust in (("mcp", "agent"), ("cli", "user"), ("library", "agent")):
        call = MemoryCall("store", {"title": f"by {channel}"}, True, "", "here", "me", "s", channel)
        stored = worker.call(call).answer["id"]
        assert worker.ready().memory.store.need(stored).source.trust == trust


def test_a_store_of_a_newer_version_is_named_and_left_alone(data):
    with sqlite3.connect(data / NAME) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    worker = MemoryWorker(DataFolder(data))
    with pytest.raises(Misconfigured, match=r"written by a newer Cortex.*upgrade this one"):
        ask(worker, "store", title="x")
    assert "newer" in worker.status().info["fault"]
    with sqlite3.connect(data / NAME) as database:
        assert database.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)
    database.close()


def test_a_damaged_database_is_reported_with_its_copies_and_never_overwritten(data):
    (data / NAME).write_bytes(b"this is no database at all" * 500)
    before = (data / NAME).read_bytes()
    worker = MemoryWorker(DataFolder(data))
    for _ in range(2):
        with pytest.raises(Damaged, match=r"is damaged .*stays as it is.*no back-up: move .* away"):
            ask(worker, "store", title="x")
    assert (data / NAME).read_bytes() == before


def test_a_database_damaged_while_open_serves_again_after_a_restore(data, worker):
    ask(worker, "store", title="kept")
    copy = worker.ready().memory.store.database.back_up()
    good = copy.read_bytes()
    worker.close()
    (data / NAME).write_bytes(good[:4096] + b"\xff" * (len(good) - 4096))
    worker._retry_at = 0.0
    reply = answer(worker, encode(MemoryCall("stats", {}, False, "", "here")))
    assert isinstance(reply, Failure)
    assert reply.code == "damaged"
    for name in (f"{NAME}-wal", f"{NAME}-shm"):
        (data / name).unlink(missing_ok=True)
    (data / NAME).write_bytes(good)
    worker._retry_at = 0.0
    assert count(worker) == 1


def damage(data):
    """Overwrite half of the closed database; return its new contents."""
    raw = (data / NAME).read_bytes()
    (data / NAME).write_bytes(raw[:2048] + b"\xff" * (len(raw) - 2048))
    return (data / NAME).read_bytes()


def restore(worker, **arguments):
    worker._retry_at = 0.0
    return worker.call(MemoryCall("restore", arguments, True, "op", channel="cli")).answer


def test_a_damaged_database_serves_again_after_the_command_in_its_message(data, worker):
    ask(worker, "store", title="kept")
    copies.make(data / NAME)
    ask(worker, "store", title="stored after the copy")
    worker.close()
    damaged = damage(data)
    with pytest.raises(Damaged) as caught:
        ask(worker, "stats", writes=False)
    [command] = re.findall("`cortex memory (.*?)`", str(caught.value))
    assert command == f"restore --data-dir {data}"
    done = restore(worker)
    assert done["notes"] == count(worker) == 1
    assert Path(done["kept"]).read_bytes() == damaged
    assert ask(worker, "search", writes=False, query="kept")["results"]
    assert ask(worker, "store", title="and goes on")["number"]


def test_a_damaged_back_up_is_skipped(data, worker):
    ask(worker, "store", title="kept")
    first = copies.make(data / NAME)
    copies.make(data / NAME).write_bytes(b"no database" * 1000)
    worker.close()
    damage(data)
    assert restore(worker)["file"] == str(first)
    worker.close()
    damage(data)
    first.write_bytes(b"no database")
    with pytest.raises(Damaged, match=r"No back-up in .* is whole"):
        restore(worker)


def test_an_intact_database_is_replaced_only_by_a_named_copy(data, worker):
    ask(worker, "store", title="kept")
    copy = copies.make(data / NAME)
    ask(worker, "store", title="stored after the copy")
    with pytest.raises(BadRequest, match="is intact, so nothing is restored"):
        restore(worker)
    with pytest.raises(NotFound, match="There is no back-up 'other'"):
        restore(worker, file="other")
    with pytest.raises(BadRequest, match="Only people"):
        worker.call(MemoryCall("restore", {"file": copy.name}, True))
    assert count(worker) == 2
    assert restore(worker, file=copy.name)["notes"] == 1


def test_a_clone_without_notes_gets_a_hint_and_is_not_linked_automatically(worker, tmp_path):
    places = {}
    for name, origin in (
        ("shop", "git@github.com:ada/shop.git"),
        ("clone", "https://github.com/ada/shop"),
        ("other", "https://github.com/ada/other"),
    ):
        places[name] = tmp_path / name
        (places[name] / ".git").mkdir(parents=True)
        (places[name] / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {origin}\n')

    def ask_from(name, operation, **arguments):
        call = MemoryCall(operation, arguments, OPERATIONS[operation].writes)
        return worker.call(structs.replace(call, project=name, place=str(places[name]), channel="cli")).answer

    def briefing_of(name):
        return ask_from(name, "briefing")["briefing"]

    assert "link" not in briefing_of("clone")
    ask_from("shop", "store", title="The port is 8080")
    assert f"`cortex memory link {places['shop']}`" in briefing_of("clone")
    assert ask_from("clone", "stats")["node_count"] == 0
    assert "link" not in briefing_of("other")
    assert "link" not in briefing_of("shop")
    ask_from("clone", "link", other="shop")
    assert "link" not in briefing_of("clone")
    assert ask_from("clone", "stats")["node_count"] == 1


def forgotten_since(data, worker):
    """A store with a note that was erased after its back-up; (the note's id, the copy)."""
    ask(worker, "store", title="kept")
    gone = ask(worker, "store", title="the salary of Ada")["id"]
    retold = ask(worker, "store", title="forgotten, and told again")["id"]
    finish(worker.ready().erase([retold]))
    ask(worker, "store", title="forgotten, and told again")
    copy = copies.make(data / NAME)
    finish(worker.ready().erase([gone]))
    return gone, copy


def test_erased_notes_stay_erased_when_an_older_copy_is_restored(data, worker):
    gone, copy = forgotten_since(data, worker)
    done = restore(worker, file=copy.name)
    assert (done["forgotten"], done["notes"], "unread" in done) == (1, 2, False)
    with pytest.raises(NotFound):
        ask(worker, "node", writes=False, node_id=gone)
    assert worker.ready().import_records([{"note": {"title": "the salary of Ada"}}])["forgotten"] == 1
    assert finish(worker.ready().doctor())["healthy"]
    worker.close()
    assert b"salary of Ada" not in (data / NAME).read_bytes()
    assert restore(worker, file=copy.name)["forgotten"] == 1


def test_a_restore_reports_when_the_list_of_erased_contents_is_incomplete(data, worker):
    forgotten_since(data, worker)
    worker.close()
    damage(data)
    done = restore(worker)
    assert (done["unread"], done["forgotten"], done["notes"]) == (True, 0, 3)


def test_the_list_of_erased_contents_is_read_from_a_damaged_store(data, worker):
    forgotten_since(data, worker)
    worker.close()
    with contextlib.closing(sqlite3.connect(data / NAME)) as database:
        query = (
            "SELECT rootpage, (SELECT * FROM pragma_page_size) FROM sqlite_master WHERE name = 'note_by_same'"
        )
        page, size = database.execute(query).fetchone()
    raw = bytearray((data / NAME).read_bytes())
    raw[(page - 1) * size : page * size] = b"\xff" * size
    (data / NAME).write_bytes(raw)
    done = restore(worker)
    assert (done["forgotten"], done["notes"], "unread" in done) == (1, 2, False)


def test_without_a_back_up_a_restore_says_so_and_leaves_the_database_where_it_is(data, worker):
    worker.close()
    damaged = damage(data)
    with pytest.raises(NotFound, match="There is no back-up in"):
        restore(worker)
    assert (data / NAME).read_bytes() == damaged


def test_a_damaged_database_that_is_moved_away_begins_anew_without_its_log(data, worker):
    ask(worker, "store", title="kept")
    worker.close()
    (data / f"{NAME}-wal").write_bytes(b"the log of what was moved away" * 1000)
    (data / NAME).rename(data / "elsewhere")
    assert count(worker) == 0
    assert ask(worker, "store", title="and goes on")["id"]


def test_a_database_that_became_empty_counts_as_damaged_and_not_as_new(data, worker):
    ask(worker, "store", title="kept")
    copies.make(data / NAME)
    worker.close()
    (data / NAME).write_bytes(b"")
    with pytest.raises(Damaged, match="it is empty"):
        ask(worker, "stats", writes=False)
    assert restore(worker)["notes"] == 1


def test_a_damaged_database_is_not_backed_up_and_no_back_up_is_removed(data, worker):
    for at in range(12):
        ask(worker, "store", title=f"Note {at}", body="word " * 12_000)
    for _ in range(3):
        copies.make(data / NAME)
    before = copies.back_ups(data)
    worker.close()
    raw = (data / NAME).read_bytes()
    (data / NAME).write_bytes(raw[: len(raw) // 2] + b"\xff" * 4096 * 8 + raw[len(raw) // 2 + 4096 * 8 :])
    with pytest.raises(Damaged):
        copies.make(data / NAME)
    assert copies.back_ups(data) == before


def test_a_back_up_is_made_on_each_day_on_which_something_changed(data, worker, monkeypatch):
    monkeypatch.setattr(serving, "LOOK_S", 0.0)
    worker._look_at = 0.0

    def look():
        worker.reload()
        worker._end_copy()
        return [Path(copy["file"]) for copy in copies.back_ups(data)]

    assert look() == []
    ask(worker, "store", title="kept")
    [first] = look()
    ask(worker, "store", title="more")
    assert look() == [first]
    yesterday = first.stat().st_mtime - copies.DAY_S - 1
    os.utime(first, (yesterday, yesterday))
    second, *others = look()
    assert others == [first]
    os.utime(second, (yesterday, yesterday))
    assert look() == [second, first]
    assert second.stat().st_mode & 0o777 == 0o600


def test_a_vanished_folder_is_noticed_and_no_write_to_it_is_acknowledged(data, worker):
    ask(worker, "store", title="kept")
    shutil.move(data, data.with_name("moved"))
    assert ask(worker, "store", title="new")["id"]  # into a new store in the same place
    assert (data / NAME).exists()
    assert count(worker) == 1
    shutil.rmtree(data)
    worker.reload()
    assert not worker.status().info["open"]


def test_a_write_during_which_the_folder_vanishes_is_not_acknowledged(data, worker, monkeypatch):
    real = serving.carry_out

    def moved(*arguments, **options):
        done = real(*arguments, **options)
        data.rename(data.with_name("moved"))
        return done

    monkeypatch.setattr(serving, "carry_out", moved)
    with pytest.raises(Unavailable, match="moved or deleted while it was written"):
        ask(worker, "store", title="x")


def test_a_second_owner_of_a_folder_is_told_who_the_first_is(data, worker):
    with pytest.raises(Misconfigured, match=f"Process {os.getpid()} already serves the memory"):
        ask(MemoryWorker(DataFolder(data)), "stats", writes=False)


def test_an_error_of_opening_is_repeated_without_a_new_try(data, monkeypatch):
    (data / NAME).write_bytes(b"no database" * 1000)
    worker = MemoryWorker(DataFolder(data))
    tried = []
    real = serving.Library.open
    monkeypatch.setattr(
        serving.Library,
        "open",
        lambda *arguments, **more: tried.append(arguments) or real(*arguments, **more),
    )
    for _ in range(3):
        with pytest.raises(Damaged):
            ask(worker, "stats", writes=False)
    assert len(tried) == 1


def test_a_full_disk_is_one_sentence_and_acknowledged_notes_are_stored(data):
    done = subprocess.run(
        [sys.executable, "-P", "-c", FULL, str(data)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    stored, refused = done.stdout.split("\n", 1)
    assert "cannot be" in refused, done.stderr
    assert int(stored) > 0
    worker = open_worker(DataFolder(data))
    # A refused write may be stored all the same; an acknowledged one must be.
    assert count(worker) >= int(stored)
    worker.close()


FULL = """
import resource, signal, sys
from pathlib import Path
from cortex.memory.serving import open_worker
from cortex.settings.data import DataFolder
from cortex.system.errors import Unavailable
from ipc.messages import MemoryCall

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
worker = open_worker(DataFolder(Path(sys.argv[1])))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, resource.RLIM_INFINITY))
stored = 0
try:
    while stored < 200:
        worker.call(MemoryCall("store", {"title": f"note {stored}", "body": "x" * 20_000}, project="here"))
        stored += 1
except Unavailable as error:
    print(stored)
    print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="rights are dropped as Linux does it")
@pytest.mark.parametrize("closed", ["folder", "database"])
def test_a_read_only_store_is_one_sentence_and_nothing_is_lost(data, worker, closed):
    ask(worker, "store", title="kept")
    worker.close()
    paths = [data / NAME] if closed == "database" else [*data.rglob("*"), data]
    modes = {path: path.stat().st_mode & 0o777 for path in paths}
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", OBEDIENT, sys.executable, "-P", "-c", WRITES, str(data)],
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    finally:
        for path, mode in reversed(modes.items()):
            path.chmod(mode)
    [sentence] = done.stdout.splitlines()
    assert sentence.startswith("Unavailable The memory"), done.stderr
    assert "cannot be" in sentence
    assert str(data) in sentence
    assert count(worker) == 1
    assert ask(worker, "store", title="more")["id"]


#: runs a program without root's right to ignore file modes
OBEDIENT = """
import ctypes, os, sys
for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    ctypes.CDLL(None).prctl(24, right, 0, 0, 0)  # PR_CAPBSET_DROP
os.execv(sys.argv[1], sys.argv[1:])
"""
WRITES = """
import sys
from pathlib import Path
from cortex.memory.serving import MemoryWorker
from cortex.settings.data import DataFolder
from ipc.messages import MemoryCall

worker = MemoryWorker(DataFolder(Path(sys.argv[1])))
try:
    worker.call(MemoryCall("store", {"title": "more"}, project="here"))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_indexes_are_saved_some_time_after_the_last_write(data, worker, monkeypatch):
    ask(worker, "store", title="Retries use back-off")
    words = worker.ready().memory.words
    worker.reload()
    assert words._tail
    monkeypatch.setattr(serving, "QUIET_S", 0.0)
    worker.reload()
    assert not words._tail


def test_the_worker_reports_its_status(worker):
    status = decode(encode(answer(worker, encode(GetStatus()))))
    assert status.worker == "memory"
    assert status.info["open"]
    assert "fault" not in status.info


MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home rw shared:2 - nfs4 server:/home rw
31 30 8:2 / /home/me/local\\040disk rw - ext4 /dev/sdb1 rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/srv/x", "ext4"), ("/home/me", "nfs4"), ("/home/me/local disk/y", "ext4"), ("/homely", "ext4")],
)
def test_the_kind_of_file_system_is_that_of_the_innermost_mount(tmp_path, path, kind):
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS)
    assert file_system(Path(path), table) == kind


def test_a_data_folder_on_a_network_file_system_is_warned_of(data, worker, monkeypatch):
    assert warn_of_network_folder(data) == ""
    monkeypatch.setattr(doctor, "file_system", lambda _path: "nfs4")
    assert "network file system (nfs4)" in worker.status().info["warnings"][0]


def test_long_work_is_answered_in_slices(worker, monkeypatch):
    def slices(*_arguments, **_options):
        yield
        yield
        return {"done": 2}

    monkeypatch.setattr(serving, "carry_out", slices)
    work = worker.call(MemoryCall("store"))
    assert [next(work), next(work)] == [None, None]
    with pytest.raises(StopIteration) as end:
        next(work)
    assert end.value.value == MemoryAnswer({"done": 2})
