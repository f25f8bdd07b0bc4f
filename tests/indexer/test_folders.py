"""What the system is asked to watch: the folders that were entered, each by itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cortex.indexer.folders import Changes, Folders


def watched() -> int:
    """How many inotify watches this process holds."""
    found = 0
    for descriptor in Path("/proc/self/fdinfo").iterdir():
        try:
            if os.readlink(f"/proc/self/fd/{descriptor.name}") == "anon_inode:inotify":
                found += descriptor.read_text().count("inotify wd:")
        except FileNotFoundError:  # the descriptor of this listing itself
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere one recursive watch costs nothing")
def test_each_folder_takes_one_watch_and_an_ignored_one_none(tmp_path):
    for folder in ("src/deep", "node_modules/many/more"):
        (tmp_path / folder).mkdir(parents=True)
    before = watched()
    folders = Folders(tmp_path, Changes())
    try:
        folders.follow(["", "src", "src/deep"])
        assert watched() - before == 3, (
            "watchdog's inotify reader is not what cortex/indexer/folders.py takes it for"
        )
        folders.follow(["", "src"])
        assert watched() - before == 2
        assert folders.complete
    finally:
        folders.close()
