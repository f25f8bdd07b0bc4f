"""Indexes of several formats next to each other: one in use stays, an unused one is removed after a
week.
"""

import os
import time

import pytest

from cortex.generation.current import Generation, publish, read_current
from cortex.generation.formats import LOCK, UNUSED_S, has_other, prune_others
from ipc.locks import hold


@pytest.fixture
def ours(tmp_path):
    folder = tmp_path / "index" / "6"
    folder.mkdir(parents=True)
    publish(folder, Generation(1))
    return folder


def place(ours, name):
    """Return the folder of an index of another format, with files of an older version."""
    folder = ours.parent / name
    for entry in ("segments", "text", "vectors", "graph"):
        (folder / entry).mkdir(parents=True, exist_ok=True)
        (folder / entry / "file").touch()
    publish(folder, Generation(9))
    (folder / LOCK).touch()
    return folder


def age(folder, seconds):
    """Make all files in `folder`, except the folders of other formats, this old."""
    then = time.time() - seconds
    entries = [entry for entry in folder.iterdir() if not entry.name.isdigit()]
    for path in (*entries, *([folder] if folder.name.isdigit() else [])):
        os.utime(path, (then, then))


@pytest.mark.parametrize("name", [".", "5", "7"])
def test_another_format_goes_when_nothing_was_written_in_it_for_a_week(ours, name):
    other = place(ours, name)
    assert has_other(ours)
    age(other, UNUSED_S - 3600)
    assert prune_others(ours) == []
    age(other, UNUSED_S + 3600)
    assert prune_others(ours)
    assert not has_other(ours)
    assert [path.name for path in ours.parent.iterdir()] == [ours.name]
    assert read_current(ours).number == 1


@pytest.mark.parametrize("entry", ["CURRENT", "segments", "text"])
@pytest.mark.parametrize("name", [".", "5"])
def test_one_young_file_keeps_all_of_it(ours, name, entry):
    other = place(ours, name)
    age(other, UNUSED_S + 3600)
    os.utime(other / entry)
    assert prune_others(ours) == []
    assert read_current(other).number == 9


@pytest.mark.parametrize("name", [".", "5"])
def test_another_format_that_a_process_writes_stays_however_old(ours, name):
    other = place(ours, name)
    with hold(other / LOCK, RuntimeError):
        age(other, UNUSED_S + 3600)
        assert prune_others(ours) == []
    assert prune_others(ours)


def test_an_index_alone_has_no_other_and_other_things_stay(ours):
    (ours.parent / "notes.txt").write_text("mine")
    assert not has_other(ours)
    assert prune_others(ours, unused_s=-1) == []
    assert (ours.parent / "notes.txt").exists()


def test_a_format_whose_folder_cannot_be_looked_into_is_no_hindrance(ours):
    (ours.parent / "3").symlink_to("3")  # reading through it fails, for root too
    assert not has_other(ours)
    assert prune_others(ours, unused_s=0.0) == ["3"]
