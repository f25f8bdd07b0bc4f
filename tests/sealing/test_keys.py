"""The key of a project: wrapped by a master key in one place, and never made twice."""

import json
import os
import shutil

import keyring
import keyring.backend
import keyring.errors
import pytest

from cortex.processes import sandbox
from cortex.processes.child import child_environment
from cortex.sealing import keys, master_key
from cortex.sealing.keys import (
    KEY,
    PLACE,
    forget_master,
    master_place,
    move_notes,
    note_memory,
    project_key,
    project_keys,
    read_wrapped,
    rotate,
    stores,
    stores_elsewhere,
)
from cortex.sealing.master_key import ENVIRONMENT, KEYCHAIN, read_masters
from cortex.sealing.places import PROJECTS, SealedPlace, is_sealed, project_note
from cortex.settings.config import load
from cortex.settings.folders.home import keys_folder
from cortex.system.errors import Damaged, Misconfigured, Unavailable


class Keychain(keyring.backend.KeyringBackend):
    """A fake keychain; `locked` behaves like a real one after a person refused to unlock it."""

    priority = 5

    def __init__(self):
        super().__init__()
        self.passwords, self.locked = {}, False

    def _check(self):
        if self.locked:
            raise keyring.errors.KeyringLocked("Failed to unlock the collection!")

    def get_password(self, service, username):
        self._check()
        return self.passwords.get((service, username))

    def set_password(self, service, username, password):
        self._check()
        self.passwords[service, username] = password

    def delete_password(self, service, username):
        self._check()
        if (service, username) not in self.passwords:
            raise keyring.errors.PasswordDeleteError("No such password!")
        del self.passwords[service, username]


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch):
    monkeypatch.delenv("CORTEX_KEY_FILE", raising=False)
    monkeypatch.delenv("CORTEX_KEY", raising=False)
    monkeypatch.setattr(master_key, "_taken", [])


@pytest.fixture
def keychain():
    before, stand_in = keyring.get_keyring(), Keychain()
    keyring.set_keyring(stand_in)
    yield stand_in
    keyring.set_keyring(before)


@pytest.fixture
def base(tmp_path):
    return tmp_path / "sealed"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "keys" / "master"


def all_bytes(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_key_is_made_once_wrapped_and_its_file_is_private(base, file):
    key = project_key(base / "a", str(file))
    assert project_key(base / "a", str(file)) == key
    assert file.stat().st_mode & 0o777 == 0o600
    assert not any(key in raw or key.hex().encode() in raw for raw in all_bytes(base).values())
    assert not any(file.read_bytes().strip() in raw for raw in all_bytes(base).values())
    assert master_place(base)[0] == str(file)


def test_projects_have_keys_of_their_own_under_one_master_key(base, file):
    first, other = project_key(base / "a", str(file)), project_key(base / "b", str(file))
    assert first != other
    assert read_wrapped(base / "a").master == read_wrapped(base / "b").master


def test_a_key_file_that_others_can_read_is_refused(base, file):
    project_key(base / "a", str(file))
    file.chmod(0o640)
    with pytest.raises(Misconfigured, match=r"can be read by others.*chmod 600"):
        project_key(base / "a", str(file))


def test_a_missing_or_wrong_key_is_reported_and_nothing_is_deleted_or_created(base, file, tmp_path):
    project_key(base / "a", str(file))
    before = all_bytes(base)
    raw = file.read_bytes()
    file.unlink()
    for store in ("a", "new"):
        with pytest.raises(Misconfigured, match=r"nothing was deleted") as caught:
            project_key(base / store, str(file))
        assert str(file) in str(caught.value)
    assert not file.exists()
    file.write_text("ab" * 32)
    file.chmod(0o600)
    with pytest.raises(Misconfigured, match="another key"):
        project_key(base / "a", str(file))
    assert all_bytes(base) == before
    file.write_bytes(raw)
    project_key(base / "a", str(file))


def test_an_invalid_key_is_refused(base, file):
    file.parent.mkdir()
    file.write_text("hello\n")
    file.chmod(0o600)
    with pytest.raises(Misconfigured, match="64 hexadecimal digits"):
        project_key(base / "a", str(file))


def test_a_key_that_was_moved_is_found_where_it_is_named_now(base, file, tmp_path):
    key = project_key(base / "a", str(file))
    moved = tmp_path / "moved"
    file.rename(moved)
    assert project_key(base / "a", str(moved)) == key


def test_the_environment_gives_a_key_and_no_child_inherits_it(base, monkeypatch):
    monkeypatch.setenv("CORTEX_KEY", "cd" * 32)
    key = project_key(base / "a", "")
    assert "CORTEX_KEY" not in os.environ
    assert project_key(base / "a", "") == key
    assert master_place(base)[0] == ENVIRONMENT
    with pytest.raises(Misconfigured, match="CORTEX_KEY_FILE"):
        rotate(base, "")


def test_processes_started_after_reading_the_settings_inherit_no_key(tmp_path, monkeypatch):
    monkeypatch.setenv("CORTEX_KEY", "cd" * 32)
    load(tmp_path)
    assert "CORTEX_KEY" not in os.environ
    assert [master.key.hex() for master in read_masters(ENVIRONMENT)] == ["cd" * 32]


def test_a_key_in_the_environment_is_inherited_by_no_process_of_a_set(monkeypatch):
    monkeypatch.setenv("CORTEX_KEY", "cd" * 32)
    for environment in (child_environment(), sandbox.environment()):
        assert "CORTEX_KEY" not in environment


def test_a_named_file_comes_before_the_environment_and_is_not_made(base, file, monkeypatch):
    monkeypatch.setenv("CORTEX_KEY_FILE", str(file))
    monkeypatch.setenv("CORTEX_KEY", "cd" * 32)
    with pytest.raises(Misconfigured, match="holds no key"):
        project_key(base / "a", "")
    file.parent.mkdir()
    file.write_text("ef" * 32)
    file.chmod(0o600)
    project_key(base / "a", "")
    assert master_place(base)[0] == str(file)


def test_the_keychain_keeps_the_key_where_nothing_else_is_named(base, keychain):
    key = project_key(base / "a", "")
    assert master_place(base)[0] == KEYCHAIN
    assert len(keychain.passwords) == 1
    assert project_key(base / "a", "") == key


def test_a_locked_keychain_never_falls_through_to_a_new_key(base, keychain, file):
    project_key(base / "a", "")
    before = all_bytes(base)
    keychain.locked = True
    for key_path in ("", str(file)):  # a newly configured file does not bypass the lock
        with pytest.raises(Unavailable, match="unlock it"):
            project_key(base / "a", key_path)
        with pytest.raises(Unavailable, match="unlock it"):
            project_key(base / "new", key_path)
    assert all_bytes(base) == before
    assert not file.exists()


def test_without_a_keychain_the_error_names_the_alternatives(base, keychain, monkeypatch):
    monkeypatch.setattr(Keychain, "priority", 0)
    with pytest.raises(Misconfigured, match=r"security\.key_path or CORTEX_KEY_FILE"):
        project_key(base / "a", "")
    assert not (base / "a").exists()


@pytest.mark.parametrize("harm", ["flipped", "cut", "of another project"])
def test_an_altered_wrapped_key_is_damage(base, file, harm):
    project_key(base / "a", str(file))
    project_key(base / "b", str(file))
    path = base / "a" / KEY
    raw = path.read_bytes()
    if harm == "flipped":
        for at in range(len(raw)):
            path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
            with pytest.raises(Damaged):
                project_key(base / "a", str(file))
        return
    path.write_bytes(raw[:-1] if harm == "cut" else (base / "b" / KEY).read_bytes())
    with pytest.raises(Damaged, match=KEY):
        project_key(base / "a", str(file))


def test_a_damaged_note_of_the_key_place_is_replaced_by_the_projects_notes(base, file):
    key = project_key(base / "a", str(file))
    recorded = master_place(base)
    (base / PLACE).write_bytes(b"rubbish")
    assert master_place(base) == recorded
    assert project_key(base / "a", str(file)) == key


@pytest.mark.parametrize("place", ["file", "keychain"])
def test_rotation_changes_the_master_key_and_none_of_the_projects(base, file, keychain, place):
    path = str(file) if place == "file" else ""
    first, other = project_key(base / "a", path), project_key(base / "b", path)
    before, old = read_wrapped(base / "a").master, read_masters(master_place(base)[0])
    assert rotate(base, path) == (2, [])
    assert read_wrapped(base / "a").master != before
    assert (project_key(base / "a", path), project_key(base / "b", path)) == (first, other)
    now = read_masters(master_place(base)[0])
    assert len(now) == 1
    assert now != old


def test_a_rotation_that_is_broken_off_anywhere_leaves_every_project_open_and_goes_on(
    base, file, monkeypatch
):
    stores = [base / name for name in "abc"]
    wanted = [project_key(store, str(file)) for store in stores]
    write = keys.write_note
    for allowed in (0, 1, 2, 2, 1):  # writes: the place, then each remaining project
        left = [allowed]

        def broken(*args, left=left):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            write(*args)

        monkeypatch.setattr(keys, "write_note", broken)
        with pytest.raises(KeyboardInterrupt):
            rotate(base, str(file))
        monkeypatch.setattr(keys, "write_note", write)
        assert [project_key(store, str(file)) for store in stores] == wanted
    assert rotate(base, str(file)) == (3, [])
    assert len(read_masters(str(file))) == 1
    assert [project_key(store, str(file)) for store in stores] == wanted


def test_a_forgotten_key_leaves_nothing_that_could_be_opened_and_the_project_sealed(base, file):
    key = project_key(base / "a", str(file))
    (base / "a" / "objects").mkdir()
    assert forget_master(base) == ""
    assert not file.exists()
    assert (base / "a").is_dir()
    assert not list((base / "a").iterdir())
    assert project_key(base / "a", str(file)) != key


def test_a_key_that_is_gone_from_the_keychain_can_be_forgotten(base, keychain):
    project_key(base / "a", "")
    keychain.passwords.clear()
    assert forget_master(base) == ""
    assert not list((base / "a").iterdir())
    project_key(base / "a", "")


@pytest.mark.parametrize("harm", ["cut", "of another project"])
def test_a_damaged_project_does_not_stop_a_rotation_and_is_reported(base, file, harm):
    wanted, _ = (project_key(base / name, str(file)) for name in "ab")
    raw = (base / "b" / KEY).read_bytes()
    (base / "b" / KEY).write_bytes(raw[:-1] if harm == "cut" else (base / "a" / KEY).read_bytes())
    assert rotate(base, str(file)) == (1, [str(base / "b")])
    assert len(read_masters(str(file))) == 1
    assert project_key(base / "a", str(file)) == wanted


def test_a_process_that_waited_for_a_rotation_opens_the_project_with_the_new_key(base, file, monkeypatch):
    wanted, changing = project_key(base / "a", str(file)), keys._keys_lock

    def after_a_rotation(base):
        monkeypatch.setattr(keys, "_keys_lock", changing)
        rotate(base, str(file))
        return changing(base)

    monkeypatch.setattr(keys, "_keys_lock", after_a_rotation)
    assert project_key(base / "a", str(file)) == wanted


def test_an_index_of_another_machine_is_refused_and_kept(base, file, tmp_path):
    project_key(base / "a", str(file))
    copy = tmp_path / "there" / "sealed"
    shutil.copytree(base, copy)
    own_key = tmp_path / "own"
    own_key.write_text("12" * 32)
    own_key.chmod(0o600)
    file.unlink()
    before = all_bytes(copy)
    with pytest.raises(Misconfigured, match="another key"):
        project_key(copy / "a", str(own_key))
    assert all_bytes(copy) == before


def test_no_note_contains_a_key(base, file):
    key = project_key(base / "a", str(file))
    note = json.loads((base / "a" / KEY).read_bytes().partition(b"\n")[2])
    assert set(note) == {"master", "place", "key"}
    assert key.hex() not in note["key"]


@pytest.fixture
def former(base, file, tmp_path):
    """Notes as earlier versions kept them, in the cache: of projects `a` and `b`, and of memory."""
    cache = tmp_path / "cache" / "sealed"
    for name in "ab":
        project_key(cache / name, str(file))
    project_keys(SealedPlace(tmp_path / "data" / "sealed", base, None, str(file), cache, is_lasting=True))
    shutil.rmtree(cache / PROJECTS)
    return cache


def test_notes_of_earlier_versions_move_over_broken_off_at_any_point(
    former, base, file, tmp_path, monkeypatch
):
    wanted = [project_key(store, str(file)) for store in (former / "a", former / "b")]
    shutil.rmtree(former / PROJECTS)
    replace, remove = keys.files.replace, keys.files.remove
    steps = 0
    for allowed in range(20):
        left = [allowed]

        def step(change, *arguments, left=left, **options):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            change(*arguments, **options)

        trial = tmp_path / f"notes{allowed}"
        copy = tmp_path / f"former{allowed}"
        shutil.copytree(former, copy)
        monkeypatch.setattr(keys.files, "replace", lambda *a, step=step, **o: step(replace, *a, **o))
        monkeypatch.setattr(keys.files, "remove", lambda *a, step=step, **o: step(remove, *a, **o))
        try:
            move_notes(copy, trial)
        except KeyboardInterrupt:
            steps += 1
        finally:
            monkeypatch.undo()
        move_notes(copy, trial)
        assert master_place(trial) == (str(file), read_wrapped(former / "a").master)
        assert list(stores(trial)) == [copy / "a", copy / "b"]
        assert stores_elsewhere(trial) == [tmp_path / "data" / "sealed"]
        assert all(is_sealed(tmp_path / "no cache", name, trial) for name in "ab")
        assert not [name for name in os.listdir(copy) if name.endswith(".json")]
        if left[0]:
            break
    assert steps >= 6
    move_notes(former, base)
    assert rotate(base, str(file)) == (3, [])
    assert [project_keys(SealedPlace(former / n, base, None, str(file), base))[0] for n in "ab"] == wanted


def test_a_cache_that_another_version_uses_is_noted_again_and_changes_no_place(former, base, file, tmp_path):
    move_notes(former, base)
    recorded = master_place(base)
    project_key(former / "c", str(tmp_path / "other key"))
    shutil.rmtree(former / PROJECTS)
    move_notes(former, base)
    assert master_place(base) == recorded
    assert is_sealed(tmp_path / "no cache", "c", base)
    assert not (former / PLACE).exists()


@pytest.mark.parametrize("gone", ["cache", "notes"])
def test_memorys_own_key_counts_whatever_became_of_cache_and_notes(former, base, file, tmp_path, gone):
    move_notes(former, base)
    memory = tmp_path / "data" / "sealed"
    place = SealedPlace(memory, base, None, str(file), base, is_lasting=True)
    wanted = project_keys(place)
    shutil.rmtree(former if gone == "cache" else base)
    note_memory(base, memory)
    count, left = rotate(base, str(file))
    assert (count, left) == (1, [])
    assert project_keys(place) == wanted
    assert forget_master(base, str(file)) == ""
    assert file.exists()
    assert project_keys(place) == wanted


def test_a_damaged_note_of_a_project_keeps_it_sealed_and_is_written_again(base, file, tmp_path):
    place = SealedPlace(tmp_path / "cache" / "a", base, None, str(file), base)
    wanted = project_keys(place)
    project_note(base, "a").write_bytes(b"rubbish")
    assert is_sealed(tmp_path / "no cache", "a", base)
    assert project_keys(place) == wanted
    assert list(stores(base)) == [place.store]


def test_a_project_that_could_not_be_sealed_does_not_count_as_sealed(base, file, tmp_path):
    project_key(base / "a", str(file))
    file.unlink()
    with pytest.raises(Misconfigured):
        project_keys(SealedPlace(tmp_path / "cache" / "b", base, None, str(file), base))
    assert not is_sealed(tmp_path / "no cache", "b", base)


def test_the_notes_are_reached_by_a_persons_own_links(tmp_path, monkeypatch, file):
    """As where the settings are kept in a folder of dot files."""
    (tmp_path / "dots").mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "cortex").symlink_to(tmp_path / "dots")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert keys_folder() == tmp_path / "dots" / "sealed"
    place = SealedPlace(tmp_path / "cache" / "a", tmp_path, None, str(file), keys_folder())
    assert project_keys(place) == project_keys(place)
    assert is_sealed(tmp_path / "no cache", "a", keys_folder())


def test_notes_that_cannot_be_written_are_one_sentence_and_nothing_is_sealed(tmp_path, file):
    (tmp_path / "settings").write_text("a file in the place of a folder")
    place = SealedPlace(tmp_path / "cache" / "a", tmp_path, None, str(file), tmp_path / "settings" / "sealed")
    with pytest.raises(Misconfigured, match=r"Cannot write .*sealed, the notes about sealed data"):
        project_keys(place)
    assert not place.store.exists()
    assert not file.exists()
