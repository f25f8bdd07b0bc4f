"""Files with the size and the time of their last reading: another ctime or inode means that the
content is compared, and so does a save just before the reading.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from cortex.generation.manifest import TICK_NS, Entry, FileState, is_unchanged, stamp
from cortex.indexer import run
from cortex.indexer.run import index
from cortex.indexer.scan import Scanner
from cortex.indexer.store import manifest as manifests
from cortex.settings.config import Config
from cortex.system.folders.mounts import file_system, has_lasting_inodes
from tests.indexer.indexed_tree import chunks, stats

OLD, NEW = "def old_api():\n    return 1\n", "def new_api():\n    return 1\n"
LONG_AGO_NS = 315_532_800 * 10**9


@pytest.fixture
def library(tmp_path) -> Config:
    """A project with one file from an archive of which every time is the same."""
    root = (tmp_path / "project").resolve()
    root.mkdir()
    save(root / "lib.py", OLD)
    (root / "other.py").write_text("def other():\n    return 1\n")
    return Config(root=root)


def save(path: Path, text: str) -> None:
    path.write_text(text)
    os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))


def names(config: Config) -> set[str]:
    return {name for chunk in chunks(config).values() for name in chunk["metadata"].get("symbols", ())}


def unpack(path: Path) -> None:
    """Unpack NEW over the file, as from an archive whose times are all the same."""
    source = path.parent.parent / "new" / path.name
    source.parent.mkdir()
    source.write_text(NEW)
    archive = source.parent / "new.tar"
    tar = ["tar", f"--mtime=@{LONG_AGO_NS // 10**9}", "-cf", archive, "-C", source.parent, path.name]
    subprocess.run(tar, check=True)
    subprocess.run(["tar", "xf", archive, "-C", path.parent], check=True)


def touch_as_before(path: Path) -> None:
    """Write in place, then `touch -r`."""
    save(path, NEW)


def rename_over(path: Path) -> None:
    """Replace the file by a rename, as `rsync -t` and editors do."""
    save(path.with_name("saved"), NEW)
    path.with_name("saved").replace(path)


def copy_with_times(path: Path) -> None:
    """Copy another file over it, as `cp -p` does."""
    save(path.parent.parent / "copied.py", NEW)
    shutil.copy2(path.parent.parent / "copied.py", path)


@pytest.mark.parametrize("how", [unpack, touch_as_before, rename_over, copy_with_times])
def test_another_text_of_the_same_size_and_time_is_read(library, how):
    index(library)
    before = (library.root / "lib.py").stat()
    how(library.root / "lib.py")
    after = (library.root / "lib.py").stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert index(library).indexed == 1
    assert names(library) == {"new_api", "other"}


def change_mode(path: Path) -> None:
    path.chmod(0o600)


def add_name(path: Path) -> None:
    os.link(path, path.parent.parent / "second name")


def replace_by_a_copy(path: Path) -> None:
    shutil.copy2(path, path.with_name("copied"))
    path.with_name("copied").replace(path)


@pytest.mark.parametrize("how", [change_mode, add_name, replace_by_a_copy, Path.touch])
def test_a_file_with_another_stat_and_the_same_text_is_not_indexed_again(library, how, monkeypatch):
    index(library)
    before = stats(library)
    how(library.root / "lib.py")
    report = index(library)
    assert (report.indexed, report.unchanged, report.sequence) == (0, 2, 1)
    assert stats(library) == before
    entry = manifests.load(library.manifest).files["lib.py"]
    assert entry.stat == Scanner(library).walk().files["lib.py"]


def test_an_unchanged_file_is_not_read(library, monkeypatch):
    monkeypatch.setattr("cortex.generation.manifest.TICK_NS", 0)
    index(library)
    read: list[str] = []
    monkeypatch.setattr(run, "read_source", lambda path, _: read.append(path) or b"")
    assert index(library).indexed == 0
    assert read == []


def test_a_manifest_of_an_earlier_version_is_compared_once(library, monkeypatch):
    monkeypatch.setattr("cortex.generation.manifest.TICK_NS", 0)
    index(library)
    save(library.root / "lib.py", NEW)  # an earlier version took it for unchanged
    manifest = manifests.load(library.manifest)
    for path, entry in manifest.files.items():
        manifest.files[path] = msgspec.structs.replace(entry, ctime_ns=0, inode=0)
    manifests.save(library.manifest, manifest)
    assert b"ctime_ns" not in library.manifest.read_bytes()
    assert index(library).indexed == 1
    assert names(library) == {"new_api", "other"}
    assert all(entry.ctime_ns for entry in manifests.load(library.manifest).files.values())


def test_a_second_save_within_a_tick_of_the_clock_is_read_at_the_next_sweep(library):
    index(library)
    save(library.root / "lib.py", NEW)
    # A clock that stood still: the second save has all times of the first.
    manifest = manifests.load(library.manifest)
    stat = Scanner(library).walk().files["lib.py"]
    read_ns = stat.ctime_ns + 1
    manifest.files["lib.py"] = stamp(manifest.files["lib.py"], stat, read_ns)
    manifests.save(library.manifest, manifest)
    assert index(library).indexed == 1
    assert names(library) == {"new_api", "other"}


def entry(**fields: int) -> Entry:
    return Entry("0" * 64, 10, fields.pop("mtime_ns", LONG_AGO_NS), **fields)


def test_an_entry_is_racy_until_it_is_read_two_seconds_after_its_times():
    stat = (10, LONG_AGO_NS, LONG_AGO_NS + 5, 7)
    first = stamp(entry(), stat, LONG_AGO_NS + 6)
    assert (first.stat, first.racy_ns) == (stat, LONG_AGO_NS + 6)
    second = stamp(first, stat, LONG_AGO_NS + TICK_NS // 2)
    assert second == first
    assert stamp(second, stat, LONG_AGO_NS + 6 + TICK_NS).racy_ns == 0
    assert stamp(entry(), stat, LONG_AGO_NS + 6 + TICK_NS).racy_ns == 0


def test_a_time_in_the_future_is_racy_once():
    stat = (10, 2 * LONG_AGO_NS, LONG_AGO_NS, 7)
    first = stamp(entry(), stat, LONG_AGO_NS + TICK_NS)
    assert first.racy_ns == LONG_AGO_NS + TICK_NS
    assert stamp(first, stat, LONG_AGO_NS + 2 * TICK_NS).racy_ns == 0


@pytest.mark.parametrize("kind", [Entry, FileState])
def test_a_stat_is_compared_as_far_as_it_is_known(kind):
    fields = {"size": 10, "mtime_ns": 1, "ctime_ns": 2, "inode": 3}
    record = kind(**fields, **({"sha256": ""} if kind is Entry else {}))
    assert is_unchanged(record, (10, 1, 2, 3)) is True
    assert is_unchanged(record, (11, 1, 2, 3)) is False
    for other in [(10, 9, 2, 3), (10, 1, 9, 3), (10, 1, 2, 9)]:
        assert is_unchanged(record, other) is None
    # A network folder, and a listing on Windows, has no inode to compare.
    assert is_unchanged(record, (10, 1, 2, 0)) is True
    assert is_unchanged(msgspec.structs.replace(record, inode=0), (10, 1, 2, 3)) is True
    assert is_unchanged(msgspec.structs.replace(record, ctime_ns=0), (10, 1, 2, 3)) is None


@pytest.mark.parametrize(
    ("kind", "lasts"),
    [
        ("ext4", True),
        ("overlay", True),
        ("nfs4", False),
        ("fuse.sshfs", False),
        ("fuseblk", False),
        ("exfat", False),
    ],
)
def test_inodes_are_compared_where_they_last(tmp_path, monkeypatch, kind, lasts):
    table = tmp_path / "mountinfo"
    table.write_text(f"1 0 8:1 / {tmp_path} rw - {kind} /dev/x rw\n")
    monkeypatch.setattr("cortex.system.folders.mounts.file_system", lambda path: file_system(path, table))
    root = tmp_path / kind
    root.mkdir()
    assert has_lasting_inodes(root) is lasts
    (root / "a.py").write_text(OLD)
    scanner = Scanner(Config(root=root))
    assert bool(scanner.walk().files["a.py"].inode) is lasts
    assert scanner.check_path("a.py") == scanner.walk().files["a.py"]
