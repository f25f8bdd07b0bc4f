"""The sealed copy of a folder: only changes are sealed, and altered files are refused."""

import os
import shutil

import pytest

from cortex.sealing.mirror import LIST, OBJECTS, Mirror
from cortex.sealing.streams import KEY_BYTES
from cortex.system.errors import Damaged

KEY = bytes(KEY_BYTES)
MOMENT_NS = 1_700_000_000_123_456_789


@pytest.fixture
def mirror(tmp_path):
    instance = Mirror(tmp_path / "store", tmp_path / "home", KEY)
    write(instance.home / "index/9/CURRENT", "generation 1")
    write(instance.home / "index/9/segments/rows-1.seg", "rows " * 1000)
    write(instance.home / "index/9/text/1/a.idx", "words")
    os.makedirs(instance.home / "index/9/text/2")
    os.link(instance.home / "index/9/text/1/a.idx", instance.home / "index/9/text/2/a.idx")
    write(instance.home / "manifest.json", "{}")
    write(instance.home / "empty", "")
    for left_out in (
        "run/text.log",
        "run/text.log.1",
        "index/9/writer.lock",
        "index/9/text/writer/x",
        "embeddings/m.sqlite",
    ):
        write(instance.home / left_out, "left out")
    assert instance.seal()
    return instance


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(MOMENT_NS, MOMENT_NS))


def objects(mirror):
    return {name: (mirror.store / OBJECTS / name).read_bytes() for name in os.listdir(mirror.store / OBJECTS)}


def restored(mirror, folder):
    """Return the files restored from the sealed folder, by path."""
    other = Mirror(mirror.store, folder, KEY)
    other.read()
    other.restore()
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}


def test_files_come_back_with_their_bytes_times_and_second_names(mirror, tmp_path):
    files = restored(mirror, tmp_path / "again")
    assert set(files) == {
        *("index/9/CURRENT", "index/9/segments/rows-1.seg", "index/9/text/1/a.idx", "index/9/text/2/a.idx"),
        *("manifest.json", "empty"),
    }
    assert files["index/9/segments/rows-1.seg"].read_text() == "rows " * 1000
    assert {path.stat().st_mtime_ns for path in files.values()} == {MOMENT_NS}
    assert files["index/9/text/1/a.idx"].samefile(files["index/9/text/2/a.idx"])
    assert {path.stat().st_mode & 0o777 for path in files.values()} == {0o600}


def test_only_changed_files_are_sealed_and_missing_ones_are_removed(mirror):
    before = objects(mirror)
    write(mirror.home / "index/9/segments/rows-2.seg", "more")
    os.remove(mirror.home / "empty")
    assert mirror.seal()
    after = objects(mirror)
    assert len(after.keys() - before.keys()) == 1
    assert len(before.keys() - after.keys()) == 1
    assert not mirror.seal()
    assert objects(mirror) == after


def test_restored_files_are_not_sealed_again(mirror, tmp_path):
    before = objects(mirror)
    other = Mirror(mirror.store, tmp_path / "again", KEY)
    other.read()
    other.restore()
    assert not other.seal()
    assert objects(other) == before


def test_a_file_of_the_same_size_and_time_that_was_replaced_is_sealed(mirror, tmp_path):
    write(mirror.home / "other", "GENERATION 2")
    os.replace(mirror.home / "other", mirror.home / "index/9/CURRENT")
    assert mirror.seal()
    assert restored(mirror, tmp_path / "again")["index/9/CURRENT"].read_text() == "GENERATION 2"


def test_no_name_and_no_text_is_seen_on_the_disk(mirror):
    stored = b"".join([*objects(mirror).values(), (mirror.store / LIST).read_bytes()])
    stored += "".join(objects(mirror)).encode()
    for word in (b"rows", b"generation", b"CURRENT", b"words", b"manifest", b"left out"):
        assert word not in stored


def test_every_flipped_byte_of_the_list_is_refused_by_name(mirror, tmp_path):
    path = mirror.store / LIST
    raw = path.read_bytes()
    for at in range(len(raw)):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
        with pytest.raises(Damaged, match=LIST):
            Mirror(mirror.store, tmp_path / "again", KEY).read()


@pytest.mark.parametrize("harm", ["flipped", "cut", "emptied", "removed", "of another file"])
def test_an_altered_object_is_refused_by_name(mirror, tmp_path, harm):
    names = sorted(objects(mirror))
    for at, name in enumerate(names):
        path = mirror.store / OBJECTS / name
        raw = path.read_bytes()
        if harm == "flipped":
            path.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
        elif harm == "cut":
            path.write_bytes(raw[:-1])
        elif harm == "emptied":
            path.write_bytes(b"")
        elif harm == "removed":
            path.unlink()
        else:
            path.write_bytes((mirror.store / OBJECTS / names[at - 1]).read_bytes())
        with pytest.raises(Damaged, match=name):
            restored(mirror, tmp_path / f"again-{at}")
        path.write_bytes(raw)


def test_an_object_of_an_older_list_is_refused(mirror, tmp_path):
    """An attacker restores a file of yesterday, under its name of today."""
    path = "index/9/CURRENT"
    old = objects(mirror)[mirror.listed.files[path].object]
    write(mirror.home / "new", "generation 2")
    os.replace(mirror.home / "new", mirror.home / path)
    mirror.seal()
    (mirror.store / OBJECTS / mirror.listed.files[path].object).write_bytes(old)
    with pytest.raises(Damaged):
        restored(mirror, tmp_path / "again")


def test_an_object_of_before_the_list_was_taken_away_is_refused(mirror, tmp_path):
    """List numbers start again without a list."""
    path = "index/9/CURRENT"
    old = objects(mirror)[mirror.listed.files[path].object]
    (mirror.store / LIST).unlink()
    write(mirror.home / "new", "GENERATION 1")
    os.replace(mirror.home / "new", mirror.home / path)
    mirror.read()
    mirror.seal()
    (mirror.store / OBJECTS / mirror.listed.files[path].object).write_bytes(old)
    with pytest.raises(Damaged):
        restored(mirror, tmp_path / "again")


def test_a_sealed_folder_of_another_project_or_key_is_refused(mirror, tmp_path):
    shutil.copytree(mirror.store, tmp_path / "other")
    with pytest.raises(Damaged):
        Mirror(tmp_path / "other", tmp_path / "again", KEY).read()
    with pytest.raises(Damaged):
        Mirror(mirror.store, tmp_path / "again", b"\1" * KEY_BYTES).read()


def test_after_an_end_at_any_point_of_sealing_the_list_before_opens(mirror, tmp_path, monkeypatch):
    """The disk refuses the first, second, … write; the sealed state stays as before."""
    import cortex.sealing.mirror as module

    before = objects(mirror)
    write(mirror.home / "a", "one")
    write(mirror.home / "b", "two")
    seal = module.seal
    for allowed in range(3):
        left = [allowed]

        def broken(*args, left=left):
            if not left[0]:
                raise OSError(28, "No space left on device")
            left[0] -= 1
            return seal(*args)

        monkeypatch.setattr(module, "seal", broken)
        with pytest.raises(OSError, match="space"):
            mirror.seal()
        assert "a" not in restored(mirror, tmp_path / f"again-{allowed}")
        assert objects(mirror) == before  # an interrupted seal leaves no files
    monkeypatch.setattr(module, "seal", seal)
    assert mirror.seal()
    assert {"a", "b"} <= set(restored(mirror, tmp_path / "last"))


def test_objects_are_on_the_disk_before_their_list(mirror, monkeypatch):
    events, fsync, rename = [], os.fsync, os.replace

    def synced(descriptor):
        events.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def renamed(source, target, **folders):
        rename(source, target, **folders)
        events.append(target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    before = objects(mirror)
    write(mirror.home / "index/9/segments/rows-2.seg", "more rows")
    write(mirror.home / "manifest.json", "{ }")
    assert mirror.seal()
    folder = mirror.store / OBJECTS
    new = {(folder / name).stat().st_ino for name in objects(mirror).keys() - before.keys()}
    assert len(new) == 2
    at = events.index(LIST)
    assert {*new, folder.stat().st_ino} <= set(events[:at])
    assert mirror.store.stat().st_ino in events[at:]
