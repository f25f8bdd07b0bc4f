"""Import and export: the same store comes back, and each unusable line is named."""

import itertools
import json
import shutil
import sqlite3

import pytest

from cortex.embedders.static import open_static
from cortex.memory.find.recall import Memory
from cortex.memory.library import Library, finish
from cortex.memory.library.transfer import export_page
from cortex.memory.note import Source
from cortex.memory.store.database import NAME
from cortex.system.errors import BadRequest, NotFound

TABLES = {
    "note": "SELECT * FROM note ORDER BY number",
    "label": "SELECT * FROM label ORDER BY note, place",
    "note_file": "SELECT * FROM note_file ORDER BY note, place",
    "edge": "SELECT * FROM edge ORDER BY number",
    "revision": "SELECT note, held, until FROM revision ORDER BY note, number",
}
TOKEN = "ghp_" + "A1b2C3d4" * 5


@pytest.fixture
def memory(data):
    moments = itertools.count(1_700_000_000_000, 1000)
    with Library(Memory(data, open_static(), lambda: next(moments)), project="here") as memory:
        yield memory


@pytest.fixture
def other(empty, tmp_path):
    folder = shutil.copytree(empty, tmp_path / "other", copy_function=shutil.copy)
    with Library(Memory(folder, open_static())) as memory:
        yield memory


def tables(folder):
    with sqlite3.connect(folder / NAME) as connection:
        contents = {name: connection.execute(query).fetchall() for name, query in TABLES.items()}
    connection.close()
    return contents


def fill(memory):
    user = memory.of(source=Source("shell", "s1", "cli", "user"))
    ids = [
        user.store(
            f"Note {at}",
            f"Body of {at}",
            kind=("fact", "decision")[at % 2],
            tags=[f"t{at % 3}", "all"],
            facts=["one", "two"],
            files=[f"src/a{at}.py"],
            metadata={"n": [at, {"x": None}]},
            importance=at / 10,
            occurred_at=f"2024-01-0{at + 1}",
            scope="global" if at == 3 else "project",
        )["id"]
        for at in range(6)
    ]
    memory.relate(ids[0], ids[1], "depends-on")
    memory.edit(ids[1], body="changed")
    memory.edit(ids[1], title="Note 1 renamed", tags=["other"])
    memory.edit(ids[2], superseded_by=ids[4])
    memory.edit(ids[5], state="archived")
    memory.forget(ids[0])
    memory.edit(
        ids[3],
        modified=["src/a.py", "src/new.py"],
        read=["src/read.py"],
        mtimes={"src/new.py": 1_700_000_000_000},
        spoken={"src/a.py": "f" * 32},
        git_commit="c" * 40,
        valid_from="2024-01-01",
        memory_type="insight",
        feedback=1,
        prompt_number=3,
    )
    memory.node(ids[3])
    memory.briefing()
    memory.of(project="there").store("A note of another project")
    return ids


def test_an_export_gives_the_same_store_back(memory, other, data, tmp_path):
    fill(memory)
    exported = finish(memory.of(project="").export_file(tmp_path / "all.jsonl"))
    done = finish(other.import_file(tmp_path / "all.jsonl", trusted=True))
    assert (done["notes"], done["edges"], done["refused"]) == (7, 2, [])
    assert exported["records"] == 9
    assert tables(tmp_path / "other") == tables(data)
    second = finish(other.import_file(tmp_path / "all.jsonl", trusted=True))
    assert (second["notes"], second["edges"], second["known"]) == (0, 0, 9)
    assert tables(tmp_path / "other") == tables(data)


def test_pages_of_an_export_are_complete(memory):
    fill(memory)
    records, after = [], ""
    while True:
        page, after = export_page(memory.memory, after, 2, "")
        records += page
        if not after:
            break
    assert [*records[0]] == ["cortex", "version"]
    assert len(records) == 10
    with pytest.raises(BadRequest, match="after is"):
        export_page(memory.memory, "nowhere", 2, "")


def test_an_export_of_a_project_has_no_notes_of_another(memory, tmp_path):
    fill(memory)
    finish(memory.export_file(tmp_path / "one.jsonl"))
    assert "another project" not in (tmp_path / "one.jsonl").read_text()


def test_an_untrusted_import_marks_each_note(memory, other, tmp_path):
    ids = fill(memory)
    finish(memory.export_file(tmp_path / "all.jsonl"))
    finish(other.import_file(tmp_path / "all.jsonl"))
    row = other.node(ids[3])
    assert (row["trust"], row["source_agent"]) == ("import", "shell")


def test_complete_lines_of_a_cut_file_are_stored_and_the_last_is_named(memory, other, tmp_path):
    fill(memory)
    path = tmp_path / "all.jsonl"
    finish(memory.of(project="").export_file(path))
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])
    line_count = path.read_bytes().count(b"\n")
    done = finish(other.import_file(path))
    assert done["notes"] == line_count - 1
    assert [(row["line"], row["why"]) for row in done["refused"]] == [
        (line_count + 1, "it is no complete JSON object")
    ]


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"note": {"body": "x"}}, "it has no title"),
        ({"note": {"title": "x" * 10_000}}, "title has 10000 characters"),
        ({"note": {"title": "x", "importance": 7}}, "importance is 7"),
        ({"note": {"title": "x", "kind": "a b"}}, "kind is 'a b'"),
        ({"note": {"title": "x", "labels": ["y"] * 3 + [7]}}, "labels is no list of texts"),
        ({"note": {"title": "x", "labels": [str(at) for at in range(10_000)]}}, "10000 tags"),
        ({"note": {"title": "x", "body": "y" * 5_000_000}}, "The body has 5000000 bytes"),
        ({"note": {"title": "x", "created_at": "soon"}}, "created_at is 'soon'"),
        ({"note": {"title": "x", "state": "lost"}}, "state is 'lost'"),
        ({"note": {"title": "x", "id": "17"}}, "which is no UUID"),
        ({"note": {"title": "x", "revisions": [1]}}, "holds no note"),
        ({"edge": {"source": "nowhere", "target": "x", "relation": "a"}}, "is not stored"),
        ({"edge": {"source": "a", "target": "b", "relation": "a b"}}, "relation is 'a b'"),
        ({"cortex": "memory", "version": 2}, "another version"),
        ({"x": 1}, "it is neither"),
        ([], "it is no JSON object"),
    ],
)
def test_an_unusable_record_is_named_and_the_others_are_stored(memory, record, why):
    done = memory.import_records([{"note": {"title": "before"}}, record, {"note": {"title": "after"}}])
    assert done["notes"] == 2
    assert [row["line"] for row in done["refused"]] == [2]
    assert why in done["refused"][0]["why"]


def test_no_secret_of_an_imported_file_is_stored(memory, data, tmp_path):
    record = {
        "note": {
            "title": TOKEN,
            "body": f"x {TOKEN}",
            "labels": [TOKEN],
            "files": [TOKEN],
            "metadata": {TOKEN: TOKEN},
            "source": {"agent": TOKEN},
            "revisions": [{"until": 1, "held": {"title": "before", "body": TOKEN}}],
        }
    }
    assert memory.import_records([record])["notes"] == 1
    memory.close()
    for path in data.rglob("*"):
        assert not path.is_file() or TOKEN.lower().encode() not in path.read_bytes().lower()


def test_an_imported_successor_is_found_although_an_answer_read_the_note_before(memory):
    notes = (("Deploys use the blue cluster", "superseded"), ("Sarah prefers green for rollouts", "active"))
    records = [{"note": {"title": title, "kind": "decision", "state": state}} for title, state in notes]
    memory.import_records(records, trusted=True)
    assert memory.recall("deploys cluster") == []
    edge = {"source": memory.node(2)["id"], "target": memory.node(1)["id"], "relation": "supersedes"}
    memory.import_records([{"edge": edge}], trusted=True)
    assert [row["number"] for row in memory.recall("deploys cluster")] == [2]


def test_a_slice_with_an_operation_id_is_stored_once(memory):
    records = [{"note": {"title": "once"}}]
    first = memory.import_records(records, operation_id="op")
    assert memory.import_records(records, operation_id="op") == first
    assert memory.stats()["node_count"] == 1
    with pytest.raises(BadRequest, match="used for another call"):
        memory.import_records([{"note": {"title": "other"}}], operation_id="op")
    memory.undo("op")
    assert memory.stats()["node_count"] == 0


def test_a_file_of_the_reference_memory_server_is_imported(memory, tmp_path):
    lines = [
        {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["writes Rust", "in Oslo"]},
        {"type": "entity", "name": "Shop", "entityType": "Web Project", "observations": []},
        {"type": "relation", "from": "Ada", "to": "Shop", "relationType": "works at"},
        {"type": "relation", "from": "Ada", "to": "Nobody", "relationType": "knows"},
        {"type": "other"},
    ]
    path = tmp_path / "memory.json"
    path.write_text("\n".join(map(json.dumps, lines)))
    done = finish(memory.import_file(path))
    assert (done["notes"], done["edges"]) == (2, 1)
    assert [row["line"] for row in done["refused"]] == [5, 4]
    ada = memory.node(memory.search("who writes Rust")[0]["id"])
    assert (ada["title"], ada["kind"], ada["facts"]) == ("Ada", "person", ["writes Rust", "in Oslo"])
    assert [(edge["relation"]) for edge in ada["edges"]] == ["works_at"]
    assert ada["related"][0]["kind"] == "web-project"


def test_markdown_notes_with_front_matter_are_imported_and_bad_ones_named(memory, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text(
        "---\ntitle: Use jitter\ntype: decision\ntags: [net, retry]\ndate: 2023-02-01\nimportance: 0.9\n---\n"
        "Because all came back at once.\n"
    )
    (folder / "b-plain.md").write_text("# Only a heading\n\nAnd a text.\n")
    (folder / "c.md").write_text("---\na: [\n---\nbroken")
    (folder / "d.md").write_text("---\ntitle: x\nx: !!python/object/apply:os.system ['true']\n---\n")
    done = finish(memory.import_file(folder))
    assert done["notes"] == 2
    assert [row["file"] for row in done["refused"]] == ["c.md", "d.md"]
    note = memory.node(memory.search("why jitter")[0]["id"])
    assert (note["kind"], note["tags"], note["importance"]) == ("decision", ["net", "retry"], 0.9)
    assert note["occurred_at"] == "2023-02-01T00:00:00Z"
    assert note["body"] == "Because all came back at once."
    assert memory.search("only a heading")[0]["body"] == "And a text."


@pytest.mark.parametrize(
    ("name", "raw", "error"),
    [("none.jsonl", None, NotFound), ("x.bin", b"\x00\x01nothing", BadRequest), ("x.jsonl", b"", None)],
)
def test_a_missing_or_foreign_file_is_refused_and_an_empty_one_adds_nothing(
    memory, tmp_path, name, raw, error
):
    path = tmp_path / name
    if raw is not None:
        path.write_bytes(raw)
    if error is None:
        assert finish(memory.import_file(path))["notes"] == 0
        return
    with pytest.raises(error):
        finish(memory.import_file(path))


def test_questions_are_answered_between_the_slices_of_an_import(memory, tmp_path):
    path = tmp_path / "many.jsonl"
    path.write_text(
        "".join(json.dumps({"note": {"title": f"Note of number {at}"}}) + "\n" for at in range(500))
    )
    steps = memory.import_file(path)
    next(steps)
    assert memory.search("note of number 150")[0]["title"] == "Note of number 150"
    assert finish(steps)["notes"] == 500
