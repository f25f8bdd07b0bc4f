"""Events of files and folders from the system."""

import os

import pytest

from cortex.system.folders import inotify
from cortex.system.folders.inotify import INSIDE, ITSELF, Notice, Notices

if inotify.sys.platform != "linux":
    pytest.skip("the system has no inotify", allow_module_level=True)


@pytest.fixture
def notices():
    instance = Notices()
    yield instance
    instance.close()
    instance.close()


def test_every_change_in_a_folder_is_reported_with_its_name(notices, tmp_path):
    notices.watch(tmp_path, INSIDE)
    assert notices.take() == []
    changes = {
        "written": lambda path: path.write_text("a"),
        "truncated": lambda path: os.truncate(path, 0),
        "closed to others": lambda path: path.chmod(0o400),
        "renamed": lambda path: path.rename(tmp_path / "b"),
        "removed": lambda _: (tmp_path / "b").unlink(),
    }
    for what, change in changes.items():
        change(tmp_path / "a")
        assert {notice.name for notice in notices.take()} - {""} <= {"a", "b"} != set(), what


def test_reading_is_no_change(notices, tmp_path):
    (tmp_path / "a").write_text("a")
    notices.watch(tmp_path, INSIDE)
    (tmp_path / "a").read_text()
    list(tmp_path.iterdir())
    assert notices.take() == []


@pytest.mark.parametrize("how", ["moved", "removed"])
def test_changes_of_a_folder_itself_are_reported(notices, tmp_path, how):
    place = tmp_path / "place"
    place.mkdir()
    notices.watch(place, ITSELF)
    if how == "moved":
        place.rename(tmp_path / "elsewhere")
    else:
        place.rmdir()
    assert str(place) in {notice.path for notice in notices.take()}
    assert (str(place) in notices.paths) == (how == "moved")


def test_the_removal_of_an_open_file_is_reported(notices, tmp_path):
    with (tmp_path / "held").open("w"):
        notices.watch(tmp_path / "held", ITSELF)
        (tmp_path / "held").unlink()
        assert notices.take()


def test_an_unwatched_folder_gives_no_more_notices(notices, tmp_path):
    notices.watch(tmp_path, INSIDE)
    notices.unwatch(tmp_path)
    (tmp_path / "a").write_text("a")
    assert notices.take() == []
    assert notices.paths == frozenset()


def test_a_missing_folder_and_a_link_are_refused(notices, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("nowhere", "link/nowhere"):
        with pytest.raises(OSError, match="No such file"):
            notices.watch(tmp_path / name, INSIDE)


def test_lost_events_are_reported_as_a_change_of_anything(notices):
    assert notices._make_notices(-1, inotify._OVERFLOW, "") == [Notice("")]


def test_a_system_without_inotify_raises_an_error(monkeypatch):
    monkeypatch.setattr(inotify.sys, "platform", "other")
    inotify._function.cache_clear()
    try:
        with pytest.raises(OSError, match="no inotify"):
            Notices()
    finally:
        inotify._function.cache_clear()
