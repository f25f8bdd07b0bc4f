"""Export to a folder of Markdown, its round trip, and edits of its files that come back."""

import sqlite3

import pytest
import yaml

from cortex.memory.library import Library, finish
from cortex.memory.note import Source
from cortex.memory.operations import carry_out
from cortex.memory.store.database import NAME

#: columns that say how a note was used, which no file holds
USED = {"relevance", "used_at", "use_count", "shown_count"}


@pytest.fixture
def memory(data):
    with Library.open(data, project="here", home=None) as memory:
        yield memory.of(source=Source("ada", "s1", "cli", "user"))


@pytest.fixture
def other(tmp_path):
    with Library.open(tmp_path / "other", project="here") as memory:
        yield memory


def fill(memory):
    memory.store(
        "Retries: use “jitter”, not 5 s",
        "# A heading\n\nAll clients came back at once.\n\n- one\n- [[two]]\n---\nend",
        kind="decision",
        tags=["net", "retry"],
        facts=["The cap is 30 s", "No: colons break nothing"],
        files=["src/retry.py"],
        anchors=["src/retry:back_off"],
        metadata={"why": {"deep": [1, 2]}},
        importance=0.9,
        occurred_at="2025-01-02",
    )
    memory.store("The port is 80", topic="port of the server")
    memory.store("The port is 8080", supersedes=[2], body="Since May.")
    memory.store("Prefer short answers", kind="preference", scope="global")
    memory.store("A note that was deleted")
    memory.forget(5)
    memory.relate(1, 4, "supports")
    memory.of(project="there").store("A note of another project")
    memory.edit(1, modified=["src/retry.py"], spoken={"src/retry.py": "f" * 16})
    memory.edit(4, state="archived")


def export(memory, folder):
    return finish(carry_out(memory, "export_markdown", {"folder": str(folder)}, project="here"))


def rows(data):
    """The notes and edges of a store, by id."""
    with sqlite3.connect(data / NAME) as connection:
        connection.row_factory = sqlite3.Row
        notes = [dict(row) for row in connection.execute("SELECT * FROM note WHERE project = 'here'")]
        lists = {
            table: sorted(map(tuple, connection.execute(f"SELECT * FROM {table} WHERE note <= 4")))
            for table in ("label", "note_file")
        }
        edges = [dict(row) for row in connection.execute("SELECT * FROM edge")]
    connection.close()
    ids = {note["number"]: note["id"] for note in notes}
    for note in notes:
        note["superseded_by"] = ids.get(note["superseded_by"], 0)
    live = sorted(
        (
            {name: value for name, value in note.items() if name not in USED}
            for note in notes
            if note["state"] != "deleted"
        ),
        key=lambda note: note["id"],
    )
    fields = ("id", "relation", "weight", "detection", "created_at")
    named = {(ids[edge["source"]], ids[edge["target"]], *(edge[name] for name in fields)) for edge in edges}
    return live, lists, named


def page(folder, number):
    (path,) = folder.glob(f"*-{number}.md")
    return path


def test_a_folder_of_markdown_gives_the_same_store_back(memory, other, data, tmp_path):
    fill(memory)
    folder = tmp_path / "vault"
    assert export(memory, folder) == {"folder": str(folder), "written": 4, "unchanged": 0}
    done = finish(other.import_file(str(folder), trusted=True))
    assert (done["notes"], done["edges"], done["refused"]) == (4, 2, [])
    mine, theirs = rows(data), rows(tmp_path / "other")
    for written, read in zip(mine[0], theirs[0], strict=True):
        assert {name: (value, read[name]) for name, value in written.items() if value != read[name]} == {}
    assert theirs[1:] == mine[1:]
    second = finish(other.import_file(str(folder), trusted=True))
    assert (second["notes"], second["edges"], second["merged"]) == (0, 0, 0)
    assert rows(tmp_path / "other") == theirs


def test_a_file_is_readable_and_changes_only_with_its_note(memory, tmp_path):
    fill(memory)
    folder = tmp_path / "vault"
    export(memory, folder)
    text = page(folder, 1).read_text()
    front = yaml.safe_load(text.split("---\n")[1])
    assert {name: front[name] for name in ("kind", "tags", "scope", "state", "files")} == {
        "kind": "decision",
        "tags": ["net", "retry"],
        "scope": "project",
        "state": "active",
        "files": ["src/retry.py"],
    }
    assert "\n# Retries: use “jitter”, not 5 s\n\n# A heading\n" in text
    assert text.endswith("- supports [[prefer-short-answers-4|Prefer short answers]]\n")
    memory.briefing()
    memory.node(1)
    assert export(memory, folder) == {"folder": str(folder), "written": 0, "unchanged": 4}
    (folder / "mine.md").write_text("My own page.")
    memory.edit(2, title="The port was 80")
    assert export(memory, folder)["written"] == 2  # its own, and the one that links to it
    assert [path.name for path in folder.glob("*-2.md")] == ["the-port-was-80-2.md"]
    assert (folder / "mine.md").exists()


def test_an_edited_file_comes_back_and_the_former_text_is_a_revision(memory, tmp_path):
    fill(memory)
    folder = tmp_path / "vault"
    export(memory, folder)
    path = page(folder, 3)
    path.write_text(
        path.read_text()
        .replace("Since May.", "Since June.")
        .replace("# The port is 8080", "# The port is 8081")
    )
    path.touch()
    before = memory.memory.store.need(3)
    memory.node(3)
    assert finish(memory.import_file(str(folder), trusted=True))["merged"] == 1
    note = memory.memory.store.need(3)
    assert (note.title, note.body, note.use_count) == (
        "The port is 8081",
        "Since June.",
        before.use_count + 1,
    )
    assert note.source == before.source
    assert [revision["body"] for _, revision in memory.memory.store.revisions(3)][-1] == "Since May."
    assert finish(memory.import_file(str(folder), trusted=True))["merged"] == 0


def test_a_store_that_changed_after_the_export_keeps_its_change_unless_the_file_was_edited(memory, tmp_path):
    fill(memory)
    folder = tmp_path / "vault"
    export(memory, folder)
    memory.edit(3, body="Since July.")
    assert finish(memory.import_file(str(folder), trusted=True))["merged"] == 0
    assert memory.memory.store.need(3).body == "Since July."
    path = page(folder, 3)
    path.write_text(path.read_text().replace("Since May.", "Since June."))
    assert finish(memory.import_file(str(folder), trusted=True))["merged"] == 1
    assert memory.memory.store.need(3).body == "Since June."
    memory.edit(3, body="Since August.")  # the edit of the file is older now, whatever its dates say
    assert finish(memory.import_file(str(folder), trusted=True))["merged"] == 0
    assert memory.memory.store.need(3).body == "Since August."
    bodies = [revision["body"] for _, revision in memory.memory.store.revisions(3)]
    assert bodies[-3:] == ["Since May.", "Since July.", "Since June."]


def test_a_missing_file_deletes_nothing(memory, tmp_path):
    fill(memory)
    folder = tmp_path / "vault"
    export(memory, folder)
    page(folder, 3).unlink()
    finish(memory.import_file(str(folder), trusted=True))
    assert memory.memory.store.need(3).state == "active"


def test_an_edit_in_an_untrusted_folder_is_only_proposed(memory, tmp_path):
    fill(memory)
    folder = tmp_path / "vault"
    export(memory, folder)
    path = page(folder, 3)
    path.write_text(path.read_text().replace("Since May.", "Since June."))
    done = finish(memory.import_file(str(folder)))
    assert (done["merged"], done["proposed"]) == (0, 1)
    assert memory.memory.store.need(3).body == "Since May."


def test_a_note_of_an_untrusted_folder_is_a_strangers(memory, other, tmp_path):
    fill(memory)
    export(memory, tmp_path / "vault")
    finish(other.import_file(str(tmp_path / "vault")))
    notes = other.memory.store.notes_by_number([1, 2, 3, 4])
    assert {note.source.trust for note in notes} == {"import"}
    assert notes[0].title == "Retries: use “jitter”, not 5 s"
