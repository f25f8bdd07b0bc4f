"""A sealed memory: nothing on the disk is readable, nothing is lost, and each fault is named."""

import importlib.util
import re
import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from cortex.front import hook
from cortex.front.cli.setup import sealed_memory
from cortex.memory.briefings import briefing_file
from cortex.memory.library import finish
from cortex.memory.serving import MemoryWorker, open_worker
from cortex.memory.store import copies, folder_sealing
from cortex.memory.store import sealed as memory_sealed
from cortex.memory.store.database import NAME
from cortex.memory.store.driver import Driver, is_plain
from cortex.memory.store.sealed import unseal_folder
from cortex.memory.store.sealed_events import event_opener
from cortex.memory.transcripts.formats import spool, spool_reader
from cortex.sealing import keys, master_key, plain_folder, recovery
from cortex.sealing.keys import KEY
from cortex.sealing.streams import MAGIC
from cortex.settings.data import SEALED, DataFolder
from cortex.settings.folders.identity import identity_of
from cortex.system.errors import BadRequest, Damaged, Misconfigured, Occupied, Unavailable
from ipc.messages import MemoryCall

pytest.importorskip("sqlcipher3")
pytest.importorskip("cryptography")

#: stored titles; none of their words may be readable on the disk
TITLES = [f"Zanzibar{number:03} speaks quokka{number:03} to narwhal{number:03}" for number in range(20)]
WORDS = [word.encode() for title in TITLES for word in title.split() if any(c.isdigit() for c in word)]


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch, tmp_path):
    for name in ("CORTEX_KEY_FILE", "CORTEX_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(master_key, "_taken", [])
    monkeypatch.setenv("CORTEX_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def key_file(tmp_path):
    return tmp_path / "keys" / "master"


@pytest.fixture
def folder(data, key_file):
    """A data folder with sealing on."""
    data_folder = DataFolder(data, seals=True, key_path=str(key_file))
    try:
        base = data_folder.sealing.base
    except Misconfigured as error:
        pytest.skip(str(error))
    yield data_folder
    plain_folder._leave(base)
    shutil.rmtree(base, ignore_errors=True)


def leave(folder):
    """End the set, as when its fronts end."""
    base = folder.sealing.base
    plain_folder._leave(base)
    assert plain_folder.close(base)


def ask(worker, operation, *, writes=True, **arguments):
    answer = worker.call(MemoryCall(operation, arguments, writes, "", "here", "", "", "cli"))
    return (finish(answer) if not hasattr(answer, "answer") else answer).answer


def store_notes(worker):
    for title in TITLES:
        ask(worker, "store", title=title, body=f"Why: {title.lower()}", tags=["marsupial"])


def count(worker):
    return ask(worker, "stats", writes=False)["node_count"]


def on_disk(*folders):
    """{file: contents} of all files below these folders."""
    return {path: path.read_bytes() for root in folders for path in root.rglob("*") if path.is_file()}


def check_disk(*folders):
    readable = {path for path, raw in on_disk(*folders).items() if any(word in raw for word in WORDS)}
    assert not readable


def test_no_word_of_the_notes_is_readable_on_disk_and_all_are_found_again(folder, tmp_path):
    worker = open_worker(folder)
    store_notes(worker)
    ask(worker, "backup")
    check_disk(tmp_path)  # with the database's log, which is not yet in its file
    assert (folder.home / "index").is_dir()
    worker.close()
    leave(folder)
    check_disk(tmp_path)
    worker = open_worker(folder)
    assert count(worker) == len(TITLES)
    assert (
        ask(worker, "recall", writes=False, query="quokka012 narwhal012")["results"][0]["title"] == TITLES[12]
    )
    worker.close()


def test_sealing_includes_back_ups_and_moved_files_and_overwrites_the_old_bytes(folder, data, tmp_path):
    worker = open_worker(DataFolder(data))
    store_notes(worker)
    ask(worker, "backup")
    worker.reload()
    worker.close()
    shutil.copy(data / NAME, data / "damaged-20260101T000000.sqlite3")
    broken = data / "backups" / "000009-20260101T000000.sqlite3"
    broken.write_bytes((data / NAME).read_bytes()[:30_000])
    was = {path: path.open("rb") for path in (data / NAME, *sorted((data / "backups").iterdir()))}
    worker = open_worker(folder)
    assert count(worker) == len(TITLES)
    check_disk(tmp_path)
    for path, file in was.items():
        assert not any(file.read()), path
        file.close()
    intact = [copy for copy in copies.back_ups(data) if not copies.fault_of(path_of(copy), driver(folder))]
    assert len(intact) == 1
    worker.close()


def path_of(copy):
    return Path(copy["file"])


def driver(folder):
    return Driver(plain_folder.open_key(folder.sealing))


def test_unsealing_restores_everything_in_plain_files(folder, data):
    worker = open_worker(folder)
    store_notes(worker)
    ask(worker, "backup")
    worker.close()
    before = driver(folder)
    assert not is_plain(data / NAME)
    folder_sealing.unseal_all(data / NAME, before)
    plain_folder.give_up_open(folder.sealing)
    plain = DataFolder(data)
    assert plain.sealing is None
    worker = open_worker(plain)
    assert count(worker) == len(TITLES)
    assert is_plain(data / NAME)
    assert all(not copies.fault_of(path_of(copy)) for copy in copies.back_ups(data))
    worker.close()


def test_a_missing_or_wrong_key_is_refused_with_its_path_and_nothing_is_made(folder, data, key_file):
    worker = open_worker(folder)
    store_notes(worker)
    worker.close()
    leave(folder)
    key_bytes, before = key_file.read_bytes(), on_disk(data)
    key_file.unlink()
    with pytest.raises(Misconfigured, match=r"nothing was deleted") as caught:
        open_worker(folder)
    assert str(key_file) in str(caught.value)
    key_file.write_text("ab" * 32)
    key_file.chmod(0o600)
    with pytest.raises(Misconfigured, match=r"another key"):
        open_worker(folder)
    assert on_disk(data) == before
    key_file.write_bytes(key_bytes)
    worker = open_worker(folder)
    assert count(worker) == len(TITLES)
    worker.close()


def test_a_damaged_database_is_refused_by_name_and_a_sealed_back_up_takes_its_place(folder, data):
    worker = open_worker(folder)
    store_notes(worker)
    ask(worker, "backup")
    worker.close()
    raw = bytearray((data / NAME).read_bytes())
    for at in range(0, len(raw), 512):
        raw[at] ^= 1
    (data / NAME).write_bytes(raw)
    worker = MemoryWorker(folder)
    with pytest.raises(Damaged, match=r"memory\.sqlite3 is damaged.*cortex memory restore"):
        ask(worker, "stats", writes=False)
    assert ask(worker, "restore")["notes"] == len(TITLES)
    assert not is_plain(data / NAME)
    worker.close()


def check(worker):
    if faults := worker.ready().memory.store.database.check():
        raise Damaged(faults[0])


def test_a_flipped_bit_in_any_page_is_noticed_by_the_check(folder, data):
    worker = open_worker(folder)
    store_notes(worker)
    assert not worker.ready().memory.store.database.check()
    worker.close()
    good = (data / NAME).read_bytes()
    for page in range(0, len(good), 4096):
        raw = bytearray(good)
        raw[page + 1234] ^= 1
        (data / NAME).write_bytes(raw)
        worker = MemoryWorker(folder)
        with pytest.raises(Damaged):
            check(worker)
        worker.close()


KILLED = """
import os, sys
from pathlib import Path
from cortex.memory.store import folder_sealing, sealed
from cortex.memory.serving import open_worker
from cortex.settings.data import DataFolder
from cortex.system import files
from cortex.system.folders import wiping
at, left = sys.argv[3], int(sys.argv[4])
where, name = {"link": (files, "link"), "move": (files, "move"), "wipe": (wiping, "_write_over"), "export": (folder_sealing, "_export"), "remove": (files, "remove"), "events": (sealed, "_rewrite_events"), "give up": (sealed, "give_up_open")}[at]
done = getattr(where, name)
def dies(*arguments):
    global left
    left -= 1
    if left < 0:
        os._exit(9)
    return done(*arguments)
setattr(where, name, dies)
folder = DataFolder(Path(sys.argv[1]), seals=True, key_path=sys.argv[2])
sealed.unseal_folder(folder) if sys.argv[5:] else open_worker(folder).close()
"""


@pytest.mark.parametrize(
    "at",
    [
        ("export", 0),
        ("export", 1),
        ("link", 0),
        ("link", 1),
        ("move", 1),
        ("wipe", 0),
        ("wipe", 1),
        ("wipe", 3),
    ],
)
def test_a_memory_killed_during_sealing_opens_complete_and_ends_sealed(folder, data, key_file, tmp_path, at):
    worker = open_worker(DataFolder(data))
    store_notes(worker)
    ask(worker, "backup")
    worker.close()
    command = [sys.executable, "-P", "-c", KILLED, str(data), str(key_file), at[0], str(at[1])]
    assert subprocess.run(command, timeout=60, check=False).returncode == 9
    worker = open_worker(folder)
    assert count(worker) == len(TITLES)
    check_disk(tmp_path)
    assert not list(data.glob("*.before*"))
    worker.close()


@pytest.mark.parametrize(
    ("end", "at"),
    [
        ("served", ("export", 0)),
        ("unsealed", ("export", 1)),
        ("served", ("link", 1)),
        ("unsealed", ("move", 1)),
        ("unsealed", ("wipe", 0)),
        ("served", ("remove", 0)),
        ("unsealed", ("events", 0)),
        ("served", ("give up", 0)),
    ],
)
def test_a_memory_killed_during_unsealing_loses_nothing_and_can_be_unsealed(folder, data, key_file, at, end):
    worker = open_worker(folder)
    store_notes(worker)
    ask(worker, "backup")
    worker.close()
    leave(folder)
    command = [sys.executable, "-P", "-c", KILLED, str(data), str(key_file), at[0], str(at[1]), "unseal"]
    assert subprocess.run(command, timeout=60, check=False).returncode == 9
    if end == "served":
        worker = open_worker(folder)
        assert count(worker) == len(TITLES)
        worker.close()
        leave(folder)
    unseal_folder(folder)
    assert is_plain(data / NAME)
    worker = open_worker(DataFolder(data))
    assert count(worker) == len(TITLES)
    assert all(not copies.fault_of(path_of(copy)) for copy in copies.back_ups(data))
    worker.close()


def test_an_event_of_a_hook_is_sealed_and_opened_by_the_session_reader(folder, data, tmp_path):
    open_worker(folder).close()
    event = {"event": "prompt", "session": "s", "cwd": "/x", "at": 1, "text": TITLES[7]}
    hook._spool(str(data), event)
    check_disk(tmp_path)
    ((_, _, unboxed),) = spool_reader.waiting(data / spool.FOLDER, unpack=event_opener(folder))
    assert unboxed.text == TITLES[7]
    ((_, _, unread),) = spool_reader.waiting(data / spool.FOLDER)
    assert unread is None


def test_earlier_events_of_hooks_are_sealed_and_not_lost(folder, data, tmp_path):
    hook._spool(str(data), {"event": "prompt", "session": "s", "cwd": "/x", "at": 1, "text": TITLES[7]})
    open_worker(folder).close()
    check_disk(tmp_path)
    ((_, _, unboxed),) = spool_reader.waiting(data / spool.FOLDER, unpack=event_opener(folder))
    assert unboxed.text == TITLES[7]


def test_forgetting_the_index_key_leaves_memory_readable_and_rotation_includes_memory(folder, key_file):
    worker = open_worker(folder)
    store_notes(worker)
    worker.close()
    base = folder.sealing.keys
    keys.project_key(base / "project", str(key_file))
    first = key_file.read_text()
    assert keys.rotate(base, str(key_file)) == (2, [])
    second = key_file.read_text()
    assert keys.forget_master(base, str(key_file)) == ""
    assert len({first, second, key_file.read_text()}) == 3
    assert not (base / "project" / KEY).exists()
    leave(folder)
    worker = open_worker(folder)
    assert count(worker) == len(TITLES)
    worker.close()
    leave(folder)
    keys.forget_master(base, str(key_file), everything=True)
    assert not (folder.root / SEALED / KEY).exists()
    assert not key_file.exists()
    with pytest.raises(Damaged, match="sealed by a key that is gone"):
        open_worker(folder)


def test_a_lost_master_key_is_recovered_with_the_recovery_key_alone(folder, key_file):
    worker = open_worker(folder)
    store_notes(worker)
    worker.close()
    place = folder.sealing
    older = recovery.make_recovery(place.store, plain_folder.open_key(place))
    newer = recovery.make_recovery(place.store, plain_folder.open_key(place))
    leave(folder)
    key_file.unlink()
    (place.store / KEY).unlink()
    with pytest.raises(Misconfigured, match="recover --memory"):
        open_worker(folder)
    for wrong in (older, "AAAA-BBBB", "", newer[:-1] + ("A" if newer[-1] != "A" else "B")):
        with pytest.raises(BadRequest, match="not the recovery key"):
            recovery.recover(place.store, wrong, place.keys, str(key_file))
    recovery.recover(place.store, f" {newer.lower()}\n", place.keys, str(key_file))
    worker = open_worker(folder)
    assert count(worker) == len(TITLES)
    worker.close()


@pytest.mark.parametrize("command", ["encrypt", "recovery", "decrypt"])
@pytest.mark.parametrize("when", ["before its work", "after it"])
def test_commands_of_keys_do_without_the_opened_copy_if_it_is_removed(
    folder, monkeypatch, capsys, command, when
):
    """The recovery key is shown in every case, and opens memory."""
    data, key_file = folder.root, Path(folder.key_path)
    monkeypatch.setenv("CORTEX_SECURITY_KEY_PATH", folder.key_path)
    options = Namespace(data_dir=str(data))
    if command != "encrypt":
        assert sealed_memory.encrypt(options) == 0
        assert capsys.readouterr().out

    def removing(work):
        def act(place):
            steps = [lambda: work(place), lambda: shutil.rmtree(folder.sealing.base, ignore_errors=True)]
            for step in reversed(steps) if when.startswith("before") else steps:
                step()

        return act

    for module, name in ((memory_sealed, "seal_folder"), (memory_sealed, "unseal_folder")):
        monkeypatch.setattr(module, name, removing(getattr(module, name)))
    monkeypatch.setattr(sealed_memory, "_show_recovery", removing(sealed_memory._show_recovery))
    act = {"recovery": sealed_memory.show_recovery}.get(command) or getattr(sealed_memory, command)
    assert act(options) == 0
    if command == "decrypt":
        assert is_plain(data / NAME)
        return
    [words] = re.findall(r"(?:[A-Z2-7]{4}-){7}[A-Z2-7]{4}", capsys.readouterr().out)
    key_file.unlink()
    place = folder.sealing
    recovery.recover(place.store, words, place.keys, str(key_file))
    open_worker(folder).close()


def test_a_sealed_memory_is_never_moved_to_a_plain_place(folder, tmp_path):
    worker = open_worker(folder)
    try:
        ask(worker, "store", title="It stays sealed")
        with pytest.raises(BadRequest, match="cortex memory decrypt"):
            ask(worker, "migrate", to=str(tmp_path / "plain"))
        assert not (tmp_path / "plain").exists()
    finally:
        worker.close()


def test_a_full_disk_during_sealing_damages_nothing(folder, data, monkeypatch):
    open_worker(DataFolder(data)).close()

    def full(*_arguments):
        raise folder_sealing.sqlcipher().OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(folder_sealing, "_export", full)
        with pytest.raises(Unavailable, match="disk is full"):
            open_worker(folder)
    assert is_plain(data / NAME)
    open_worker(folder).close()
    assert not is_plain(data / NAME)


def test_a_second_owner_of_a_sealed_memory_is_refused(folder):
    worker = open_worker(folder)
    with pytest.raises(Occupied, match="already serves the memory"):
        open_worker(folder)
    worker.close()


def test_indexes_of_a_sealed_memory_are_sealed_at_the_end_and_rebuilt_if_damaged(folder, data):
    worker = open_worker(folder)
    store_notes(worker)
    worker.close()
    leave(folder)
    sealed = list((data / SEALED / "objects").iterdir())
    assert sealed
    assert all(path.read_bytes().startswith(MAGIC) for path in sealed)
    for path in sealed:
        path.write_bytes(path.read_bytes()[:-1])
    worker = open_worker(folder)
    assert "is built again" in plain_folder.sealed_fault(folder.sealing.base)
    assert (
        ask(worker, "recall", writes=False, query="quokka012 narwhal012")["results"][0]["title"] == TITLES[12]
    )
    worker.close()


def test_a_hook_finds_the_briefing_while_a_sealed_memory_is_served(folder, data, tmp_path):
    worker = open_worker(folder)
    project = tmp_path / "shop"
    project.mkdir()
    whose = identity_of(project)
    ask(worker, "store", title=TITLES[7], project=whose)
    assert briefing_file.render(worker.ready(), folder.home, whose)
    assert TITLES[7] in hook._briefing(str(data), str(project))
    check_disk(tmp_path)
    worker.close()


def test_without_sqlcipher_no_key_is_made_and_nothing_is_changed(folder, data, monkeypatch):
    before = on_disk(data)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(Misconfigured, match=r"sqlcipher3 is not installed.*encrypt_memory to off"):
        open_worker(folder)
    assert on_disk(data).keys() == before.keys()
    assert not folder.is_sealed


def test_a_rotation_names_a_memory_that_is_not_mounted(folder, key_file, data):
    open_worker(folder).close()
    leave(folder)
    away = data.with_name("away")
    data.rename(away)
    store, base = data / SEALED, folder.sealing.keys
    assert keys.rotate(base, str(key_file)) == (0, [str(store)])
    with pytest.raises(Misconfigured, match="is missing"):
        keys.forget_master(base, str(key_file))
    away.rename(data)
    worker = open_worker(folder)  # with the old key, which was kept for it
    worker.close()
    leave(folder)
    assert keys.rotate(base, str(key_file)) == (1, [])
    open_worker(folder).close()


def test_a_rotation_ignores_a_memory_that_is_plain_again(folder, data, key_file):
    open_worker(folder).close()
    base = folder.sealing.keys
    unseal_folder(folder)
    leave(folder)
    assert keys.rotate(base, str(key_file)) == (0, [])
