"""Opening and closing of the plain folder of a sealed project."""

import errno
import os
import subprocess
import sys

import pytest

from cortex.sealing import keys, places, plain_folder
from cortex.sealing.keys import project_key
from cortex.sealing.mirror import LIST, OBJECTS, Mirror
from cortex.sealing.places import SealedPlace
from cortex.sealing.plain_folder import (
    OPEN,
    TURN,
    USED,
    clear_forgotten,
    close,
    ensure_open,
    give_up,
    remove_unused_folders,
    reseal,
    sealed_fault,
)
from cortex.system.errors import Damaged, Misconfigured, Unavailable
from ipc.locks import share, try_lock


@pytest.fixture
def place(tmp_path, monkeypatch):
    plain = tmp_path / "memory" / "cortex-0" / "plain"
    monkeypatch.setattr(plain_folder, "plain_base", lambda: plain)
    instance = SealedPlace(
        tmp_path / "cache" / "sealed" / "a",
        plain / ("0" * 16),
        tmp_path / "cache" / "projects" / "a",
        str(tmp_path / "key"),
    )
    yield instance
    plain_folder._leave(instance.base)


def leave(place):
    """Release the folder, as at the end of a process."""
    plain_folder._leave(place.base)
    return close(place.base)


def put(place, text, name="manifest.json"):
    (place.home / name).write_text(text)


def test_the_last_user_seals_and_removes_the_plain_folder(place):
    ensure_open(place)
    other = share(place.base / USED)
    put(place, "one")
    assert not leave(place)
    assert place.home.is_dir()
    other.release()
    assert close(place.base)
    assert sorted(os.listdir(place.base)) == sorted([TURN, USED])
    ensure_open(place)
    assert (place.home / "manifest.json").read_text() == "one"


def test_plain_folders_are_private_on_each_level(place):
    ensure_open(place)
    for folder in (place.base.parent.parent, place.base.parent, place.base, place.home):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert (place.base / OPEN).stat().st_mode & 0o777 == 0o600


def test_plain_folders_of_killed_processes_are_removed_at_the_next_start(place):
    ensure_open(place)
    put(place, "one")
    assert reseal(place.base)
    put(place, "never sealed")
    plain_folder._leave(place.base)
    assert remove_unused_folders() == [place.base]
    assert not place.home.exists()
    ensure_open(place)
    assert (place.home / "manifest.json").read_text() == "one"


def test_a_process_that_starts_while_the_last_user_ends_loses_no_change(place, monkeypatch):
    turn_lock = plain_folder._turn_lock

    def turn_lock_after_a_start(base):
        assert remove_unused_folders() == []
        return turn_lock(base)

    for text, end in (
        ("at exit", plain_folder._leave_all),
        ("by a supervisor", lambda: close(place.base, plain_folder._used.pop(place.base))),
    ):
        ensure_open(place)
        put(place, text)
        with monkeypatch.context() as patched:
            patched.setattr(plain_folder, "_turn_lock", turn_lock_after_a_start)
            end()
        assert not place.home.exists()
        ensure_open(place)
        assert (place.home / "manifest.json").read_text() == text


def test_only_folders_whose_key_is_forgotten_are_cleared(place):
    ensure_open(place)
    put(place, "one")
    clear_forgotten()
    assert close(place.base, plain_folder._used.pop(place.base))
    ensure_open(place)
    assert (place.home / "manifest.json").read_text() == "one"
    keys.forget_master(place.store.parent, place.key_path)
    clear_forgotten()
    assert not place.home.exists()


def test_the_plain_folder_of_a_killed_process_is_never_reused(place):
    ensure_open(place)
    put(place, "one")
    reseal(place.base)
    put(place, "never sealed")
    plain_folder._leave(place.base)
    ensure_open(place)
    assert (place.home / "manifest.json").read_text() == "one"


def test_a_folder_in_use_stays_when_unused_ones_are_removed(place):
    ensure_open(place)
    assert remove_unused_folders() == []
    assert place.home.is_dir()


def test_an_opening_that_was_broken_off_is_begun_anew(place):
    ensure_open(place)
    put(place, "one")
    reseal(place.base)
    (place.base / OPEN).unlink()  # it is written last
    put(place, "half")
    other = share(place.base / USED)
    ensure_open(place)
    assert (place.home / "manifest.json").read_text() == "one"
    other.release()


def test_two_processes_that_open_at_once_have_one_folder(place, tmp_path):
    program = (
        "import sys\nfrom pathlib import Path\nfrom cortex.sealing.plain_folder import ensure_open\n"
        "from cortex.sealing.places import SealedPlace\n"
        "ensure_open(SealedPlace(*map(Path, sys.argv[1:4]), sys.argv[4]))\nprint('open', flush=True)\nsys.stdin.read()\n"
    )
    words = [*map(str, (place.store, place.base, place.old)), place.key_path]
    both = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", program, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in both:
        assert process.stdout.readline() == "open\n"
    put(place, "one")
    for process in both:
        process.communicate("")
        assert process.returncode == 0
    assert not place.home.exists()
    ensure_open(place)
    assert (place.home / "manifest.json").read_text() == "one"


@pytest.mark.parametrize("harm", ["list", "object", "key"])
def test_damaged_sealed_files_are_reported_and_made_again(place, harm):
    ensure_open(place)
    put(place, "one")
    leave(place)
    path = {
        "list": place.store / LIST,
        "object": next((place.store / OBJECTS).iterdir()),
        "key": place.store / "KEY",
    }[harm]
    raw = path.read_bytes()
    path.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    ensure_open(place)
    assert path.name in sealed_fault(place.base)
    assert list(place.home.iterdir()) == []
    put(place, "again")
    leave(place)
    ensure_open(place)
    assert sealed_fault(place.base) == ""
    assert (place.home / "manifest.json").read_text() == "again"


def test_without_its_key_nothing_is_opened_and_nothing_deleted(place, tmp_path):
    ensure_open(place)
    put(place, "one")
    leave(place)
    before = {path: path.read_bytes() for path in place.store.rglob("*") if path.is_file()}
    key = (tmp_path / "key").read_bytes()
    (tmp_path / "key").unlink()
    with pytest.raises(Misconfigured, match="nothing was deleted"):
        ensure_open(place)
    assert {path: path.read_bytes() for path in place.store.rglob("*") if path.is_file()} == before
    assert not place.home.exists()
    (tmp_path / "key").write_bytes(key)
    (tmp_path / "key").chmod(0o600)
    ensure_open(place)
    assert (place.home / "manifest.json").read_text() == "one"


def test_too_little_memory_is_reported_before_anything_is_opened(place, monkeypatch):
    ensure_open(place)
    put(place, "x" * 1000)
    leave(place)
    monkeypatch.setattr(places, "FIRST_BYTES", 1 << 60)
    with pytest.raises(Misconfigured, match=r"has \d+ MB free, and the index needs \d+ MB in memory"):
        ensure_open(place)
    assert not place.home.exists()


def test_without_a_file_system_in_memory_it_says_so(monkeypatch):
    monkeypatch.setattr(places, "IN_MEMORY", frozenset())
    monkeypatch.setattr(places, "_permitted", [])  # a test that read such settings may have been here
    places._plain_base.cache_clear()
    with pytest.raises(Misconfigured, match=r"neither /dev/shm nor \$XDG_RUNTIME_DIR is a tmpfs"):
        places.plain_base()
    places._plain_base.cache_clear()


def test_a_plain_folder_that_is_a_link_or_anothers_is_refused(place, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place.base.parent.mkdir(parents=True)
    place.base.symlink_to(elsewhere)
    with pytest.raises(Misconfigured, match="must be a real folder owned by you"):
        ensure_open(place)
    assert not list(elsewhere.iterdir())


def test_plain_files_on_the_disk_are_removed_when_a_project_is_sealed(place):
    for name in ("index/9/CURRENT", "chunks/a.json", "run/usage.jsonl"):
        (place.old / name).parent.mkdir(parents=True, exist_ok=True)
        (place.old / name).write_text("plain")
    vectors = place.old.parent.parent / "embeddings"
    vectors.mkdir()
    (vectors / "model.sqlite").write_text("plain")
    writer = try_lock(place.old / "index" / "9" / "writer.lock")
    ensure_open(place)
    assert place.old.is_dir()  # it is still written
    writer.release()
    ensure_open(place)
    assert not place.old.exists()
    assert not vectors.exists()


def test_plain_files_on_the_disk_stay_if_the_project_cannot_be_sealed(place, tmp_path):
    (tmp_path / "key").write_text("no key")
    (tmp_path / "key").chmod(0o600)
    (place.old / "index").mkdir(parents=True)
    vectors = place.old.parent.parent / "embeddings"
    vectors.mkdir()
    with pytest.raises(Misconfigured, match="is no key"):
        ensure_open(place)
    assert place.old.is_dir()
    assert vectors.is_dir()


def test_sealed_files_can_be_given_up_unless_they_are_in_use(place):
    ensure_open(place)
    put(place, "one")
    other = share(place.base / USED)
    with pytest.raises(Unavailable, match="in use"):
        give_up(place)
    other.release()
    give_up(place)
    assert not place.store.exists()
    assert not place.home.exists()


def test_without_a_file_system_in_memory_permitted_plain_bytes_are_on_the_disk_and_overwritten(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(places, "IN_MEMORY", frozenset())
    monkeypatch.setattr(places, "_permitted", [])
    places._plain_base.cache_clear()
    with pytest.raises(Misconfigured, match=r"security\.plain_runtime: true"):
        places.plain_base()
    places.permit_disk(tmp_path / "cache")
    store = places.sealed_base(tmp_path / "cache") / "a"
    place = SealedPlace(store, places.plain_of(store), None, str(tmp_path / "key"))
    assert place.base.is_relative_to(tmp_path / "cache")
    for end in (lambda: leave(place), lambda: (plain_folder._leave(place.base), remove_unused_folders())):
        ensure_open(place)
        put(place, "plain words")
        with (place.home / "manifest.json").open("rb") as file:
            assert end()
            assert not any(file.read())
        assert not place.home.exists()
    places._plain_base.cache_clear()


def test_a_change_of_keys_can_be_interrupted_anywhere(place, monkeypatch):
    ensure_open(place)
    put(place, "one")
    put(place, "two", "other")
    leave(place)
    first = project_key(place.store, place.key_path)
    write, replace = keys.write_note, Mirror._replace

    def at(broken, where, name, real):
        def then(*arguments):
            if broken == "before":
                raise KeyboardInterrupt
            real(*arguments)
            raise KeyboardInterrupt

        monkeypatch.setattr(where, name, then)

    for where, name, real in ((keys, "write_note", write), (Mirror, "_replace", replace)):
        for broken in ("before", "after"):
            at(broken, where, name, real)
            with pytest.raises(KeyboardInterrupt):
                plain_folder.seal_anew(place)
            monkeypatch.setattr(where, name, real)
            ensure_open(place)
            assert (place.home / "manifest.json").read_text() == "one"
            assert (place.home / "other").read_text() == "two"
            assert not plain_folder.sealed_fault(place.base)
            leave(place)
    older = project_key(place.store, place.key_path)
    before = {path: path.read_bytes() for path in place.store.rglob("*") if path.is_file()}
    plain_folder.seal_anew(place)
    assert project_key(place.store, place.key_path) not in (first, older)
    assert not any(path.exists() and path.read_bytes() == raw for path, raw in before.items())
    with pytest.raises(Damaged):
        Mirror(place.store, place.home, older).read()
    ensure_open(place)
    assert (place.home / "other").read_text() == "two"


def test_a_full_disk_during_a_change_of_keys_loses_nothing(place, monkeypatch):
    ensure_open(place)
    put(place, "one")
    leave(place)

    def full(*_arguments):
        raise OSError(errno.ENOSPC, "no space left")

    replace = Mirror._replace
    monkeypatch.setattr(Mirror, "_replace", full)
    with pytest.raises(OSError, match="no space"):
        plain_folder.seal_anew(place)
    monkeypatch.setattr(Mirror, "_replace", replace)
    ensure_open(place)
    assert (place.home / "manifest.json").read_text() == "one"
    assert not plain_folder.sealed_fault(place.base)


def test_sealed_files_in_use_are_not_sealed_again(place):
    ensure_open(place)
    other = share(place.base / USED)
    with pytest.raises(Unavailable, match="in use"):
        plain_folder.seal_anew(place)
    other.release()
