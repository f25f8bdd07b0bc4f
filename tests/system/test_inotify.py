"""What the system tells of files and folders."""

import os

import pytest

from cortex.system import inotify
from cortex.system.inotify import INSIDE, ITSELF, Notice, Notices

if inotify.sys.platform != "linux":
    pytest.skip("the system has no inotify", allow_module_level=True)


@pytest.fixture
def told():
    made = Notices()
    yield made
    made.close()
    made.close()


def test_all_that_changes_what_is_in_a_folder_is_told_by_name(told, tmp_path):
    told.watch(tmp_path, INSIDE)
    assert told.take() == []
    changes = {
        "written": lambda path: path.write_text("a"),
        "truncated": lambda path: os.truncate(path, 0),
        "closed to others": lambda path: path.chmod(0o400),
        "renamed": lambda path: path.rename(tmp_path / "b"),
        "removed": lambda _: (tmp_path / "b").unlink(),
    }
    for what, change in changes.items():
        change(tmp_path / "a")
        assert {notice.name for notice in told.take()} - {""} <= {"a", "b"} != set(), what


def test_reading_is_no_change(told, tmp_path):
    (tmp_path / "a").write_text("a")
    told.watch(tmp_path, INSIDE)
    (tmp_path / "a").read_text()
    list(tmp_path.iterdir())
    assert told.take() == []


@pytest.mark.parametrize("how", ["moved", "removed"])
def test_what_becomes_of_a_folder_itself_is_told(told, tmp_path, how):
    place = tmp_path / "place"
    place.mkdir()
    told.watch(place, ITSELF)
    if how == "moved":
        place.rename(tmp_path / "elsewhere")
    else:
        place.rmdir()
    assert str(place) in {notice.path for notice in told.take()}
    assert (str(place) in told.paths) == (how == "moved")


def test_a_file_that_is_removed_while_it_is_open_is_told(told, tmp_path):
    with (tmp_path / "held").open("w"):
        told.watch(tmp_path / "held", ITSELF)
        (tmp_path / "held").unlink()
        assert told.take()


def test_what_is_left_is_not_told_any_more(told, tmp_path):
    told.watch(tmp_path, INSIDE)
    told.leave(tmp_path)
    (tmp_path / "a").write_text("a")
    assert told.take() == []
    assert told.paths == frozenset()


def test_a_folder_that_is_not_there_and_a_link_are_refused(told, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("nowhere", "link/nowhere"):
        with pytest.raises(OSError, match="No such file"):
            told.watch(tmp_path / name, INSIDE)


def test_lost_notices_are_told_as_anything(told):
    assert told._tell(-1, inotify._OVERFLOW, "") == [Notice("")]


def test_a_system_without_them_says_so(monkeypatch):
    monkeypatch.setattr(inotify.sys, "platform", "other")
    inotify._function.cache_clear()
    try:
        with pytest.raises(OSError, match="no inotify"):
            Notices()
    finally:
        inotify._function.cache_clear()
