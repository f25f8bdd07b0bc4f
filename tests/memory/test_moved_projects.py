"""A project whose folder was moved keeps its notes, or names the one that may have them."""

import shutil

import pytest

from cortex.memory.team import moved_projects
from cortex.settings.folders.identity import identity_of
from cortex.system.folders.birth import folder_mark
from ipc.messages import MemoryCall


class Desk:
    """Calls of memory from folders."""

    def __init__(self, worker):
        self.worker = worker

    def ask(self, folder, operation, *, writes=False, channel="cli", **arguments):
        project = identity_of(folder)
        call = MemoryCall(operation, arguments, writes, "", project, "", "", channel, str(folder))
        return self.worker.call(call).answer

    def store(self, folder):
        self.ask(folder, "store", writes=True, title="Retries use back-off", kind="decision")

    def titles(self, folder):
        return [row["title"] for row in self.ask(folder, "recall", query="retries")["results"]]


@pytest.fixture
def desk(worker):
    return Desk(worker)


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    if not folder_mark(folder / ".git"):
        pytest.skip("this file system keeps no birth time")
    return folder


def test_a_renamed_project_keeps_its_notes(desk, project, tmp_path):
    desk.store(project)
    moved = project.rename(tmp_path / "renamed")
    assert desk.titles(moved) == ["Retries use back-off"]
    assert "Retries use back-off" in desk.ask(moved, "briefing")["briefing"]
    moved = moved.rename(tmp_path / "again")
    assert desk.titles(moved) == ["Retries use back-off"]
    desk.ask(moved, "undo", writes=True)
    assert desk.titles(moved) == []


@pytest.mark.parametrize("kind", ["copy", "inode used again", "copy whose original is gone"])
def test_another_git_folder_gets_no_notes_by_itself(desk, project, tmp_path, monkeypatch, kind):
    desk.store(project)
    if kind == "inode used again":  # the same device and inode, born later
        mark = folder_mark(project / ".git").rpartition(":")[0]
        moved = project.rename(tmp_path / "renamed")
        monkeypatch.setattr(moved_projects, "folder_mark", lambda _folder: f"{mark}:1")
    else:
        moved = tmp_path / "renamed"
        shutil.copytree(project, moved)
        if kind != "copy":
            shutil.rmtree(project)
    assert desk.titles(moved) == []
    answer = desk.ask(moved, "recall", query="retries")
    assert ("memory link" in answer["message"]) == (kind != "copy")
    if kind != "copy":
        assert f"{project}, which is gone, has 1 note" in answer["message"]
        assert f"`cortex memory link {project}`" in answer["message"]
        assert answer["message"] in desk.ask(moved, "briefing")["briefing"]


def test_a_link_takes_a_path_that_is_gone(desk, project, tmp_path):
    desk.store(project)
    moved = tmp_path / "renamed"
    shutil.copytree(project, moved)
    shutil.rmtree(project)
    assert desk.titles(moved) == []
    desk.ask(moved, "link", writes=True, other=str(project))
    assert desk.titles(moved) == ["Retries use back-off"]


def test_the_mark_follows_a_repository_that_was_made_anew(desk, project, tmp_path):
    desk.store(project)
    shutil.rmtree(project / ".git")
    (tmp_path / "in the way").mkdir()
    (project / ".git").mkdir()
    desk.worker._followed_projects.__init__()
    desk.titles(project)
    moved = project.rename(tmp_path / "renamed")
    assert desk.titles(moved) == ["Retries use back-off"]
