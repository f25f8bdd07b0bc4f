"""Files that are replaced under their readers, and files opened without following a link."""

import os
from pathlib import Path

import pytest

from cortex.system.files import open_plain, read_plain, replace, replacing


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "state.json"
    path.write_bytes(b"old")
    return path


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("sync", [False, True])
def test_a_replaced_file_is_a_new_one_and_an_open_reader_keeps_the_old(path, sync):
    with path.open("rb") as reader:
        replace(path, b"new", sync=sync)
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["state.json"]


def test_a_file_that_was_not_there_is_made(tmp_path):
    replace(tmp_path / "first", b"new")
    assert (tmp_path / "first").read_bytes() == b"new"


def test_until_the_end_of_the_body_readers_see_the_old_file(path):
    with replacing(path) as temporary:
        temporary.write_bytes(b"half")
        assert path.read_bytes() == b"old"
        assert temporary.parent == path.parent
        assert temporary.name.startswith(".")
    assert path.read_bytes() == b"half"


def interrupted(path: Path) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(b"half")
        raise KeyboardInterrupt


def test_a_body_that_fails_leaves_the_old_file_and_nothing_else(path):
    with pytest.raises(KeyboardInterrupt):
        interrupted(path)
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["state.json"]


def test_a_rename_that_fails_leaves_nothing_behind(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        replace(tmp_path / "folder", b"a file cannot take a folder's place")
    assert names(tmp_path) == ["folder"]


def test_a_body_that_writes_nothing_is_refused(path):
    with pytest.raises(FileNotFoundError), replacing(path, sync=True):
        pass
    assert path.read_bytes() == b"old"


def test_a_plain_file_is_read_up_to_the_bound(path):
    assert read_plain(path, 100) == b"old"
    assert read_plain(os.fspath(path), 2) == b"ol"


def test_a_link_is_not_opened(path):
    link = path.with_name("link")
    link.symlink_to(path)
    with pytest.raises(OSError, match="link"):
        read_plain(link, 100)


def test_a_link_among_the_folders_above_is_followed(path, tmp_path):
    (tmp_path / "folder").symlink_to(tmp_path)
    assert read_plain(tmp_path / "folder" / path.name, 100) == b"old"


def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):
        open_plain(tmp_path / "pipe")


def test_a_folder_and_what_is_missing_are_refused(tmp_path):
    with pytest.raises(OSError, match="Not a regular file"):
        open_plain(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_plain(tmp_path / "missing")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are counted in /proc")
def test_a_refused_file_leaves_no_descriptor_open(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with pytest.raises(OSError, match="Not a regular file"):
            open_plain(tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before
