"""The system's watches: each entered folder has one of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cortex.indexer.folder_watch import Changes, watch_folders
from cortex.indexer.scan import Scanner
from cortex.settings.config import Config
from tests.wait_until import until


def watched() -> int:
    """Return the count of inotify watches of this process."""
    count = 0
    for descriptor in Path("/proc/self/fdinfo").iterdir():
        try:
            if os.readlink(f"/proc/self/fd/{descriptor.name}") == "anon_inode:inotify":
                count += descriptor.read_text().count("inotify wd:")
        except FileNotFoundError:  # the descriptor of this listing itself
            continue
    return count


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere one recursive watch costs nothing")
def test_each_folder_takes_one_watch_and_an_ignored_one_none(tmp_path):
    for folder in ("src/deep", "node_modules/many/more"):
        (tmp_path / folder).mkdir(parents=True)
    before = watched()
    folders = watch_folders(tmp_path, Changes())
    try:
        folders.follow(["", "src", "src/deep"])
        assert watched() - before == 3
        folders.follow(["", "src"])
        assert watched() - before == 2
        assert folders.complete
    finally:
        folders.close()


def test_a_file_saved_behind_the_walk_is_reported(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    changes = Changes()
    folders = watch_folders(tmp_path, changes)
    entered: list[str] = []

    def enter(folder: str) -> None:
        folders.enter(folder)
        entered.append(folder)
        if len(entered) == 3:  # the root, and the folder that has been listed
            (tmp_path / entered[1] / "saved.py").write_text("saved = 1\n")

    try:
        scan = Scanner(Config(root=tmp_path)).walk(enter)
        assert not scan.files
        folders.follow(scan.folders)
        until(lambda: f"{entered[1]}/saved.py" in changes.peek())
    finally:
        folders.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere one recursive watch costs nothing")
def test_a_renamed_folder_is_followed_by_its_new_name(tmp_path):
    (tmp_path / "one").mkdir()
    changes = Changes()
    folders = watch_folders(tmp_path, changes)
    try:
        folders.follow(["", "one"])
        (tmp_path / "one").rename(tmp_path / "two")
        until(lambda: changes.take()[1])  # a sweep is asked for
        folders.follow(["", "two"])  # the system has the same watch for both names
        (tmp_path / "two" / "saved.py").write_text("saved = 1\n")
        until(lambda: "two/saved.py" in changes.take()[0])
    finally:
        folders.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the clock finds changes of written files")
def test_a_written_folder_reports_strangers_and_not_the_writer(tmp_path):
    changes = Changes()
    folders = watch_folders(tmp_path, changes)
    try:
        assert folders.watch_written({tmp_path: ("state.json",)})
        until(changes.event.is_set)  # earlier changes have no event
        changes.clear_touched()
        changes.take()
        (tmp_path / ".new").write_text("{}")
        (tmp_path / ".new").rename(tmp_path / "state.json")  # as this program replaces it
        assert not changes.event.wait(0.3)
        (tmp_path / "state.json").unlink()
        until(changes.event.is_set)
        assert not folders.watch_written({tmp_path: ("state.json",), tmp_path / "missing": ()})
    finally:
        folders.close()
