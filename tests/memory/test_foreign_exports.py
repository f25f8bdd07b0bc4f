"""Imports of the exports of other memory programs, in the forms that these programs write."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from cortex.memory.library import Library, finish
from cortex.memory.times import format_moment
from cortex.system.errors import BadRequest, NotFound

EXPORTS = Path(__file__).parent / "exports"


@pytest.fixture
def memory(data):
    with Library.open(data, project="here") as memory:
        yield memory


def bring(memory, path, **arguments):
    """Import a file; return {title: note}."""
    done = finish(memory.import_file(str(path), **arguments))
    notes = memory.memory.store.notes_by_number(memory.memory.store.numbers())
    assert {note.source.trust for note in notes} == {"import"}
    assert {(note.project, note.scope) for note in notes} == {("here", "project")}
    return done, {note.title: note for note in notes}


def relations(memory):
    notes = {note.number: note.title for note in memory.memory.store.notes_by_number(range(1, 50))}
    edges = memory.memory.store.edges_after(0, 100)
    return {(notes[edge.source], edge.relation, notes[edge.target]) for edge in edges}


def test_an_export_of_mem0(memory):
    done, notes = bring(memory, EXPORTS / "mem0.json")
    assert (done["notes"], done["refused"]) == (4, [])
    assert notes["Prefers metric units in reports"].labels == ("preferences", "style")
    assert format_moment(notes["Prefers metric units in reports"].created_at) == "2025-03-01T16:00:00Z"
    assert notes["The ferry office moved to pier four."].body.endswith("It opens at six.")
    assert relations(memory) == {("ada", "works_at", "ferry office")}
    assert bring(memory, EXPORTS / "mem0.json")[0]["notes"] == 0


def test_a_list_of_rows_of_mem0_on_one_line(memory, tmp_path):
    rows = json.loads((EXPORTS / "mem0.json").read_text())["results"]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    assert bring(memory, tmp_path / "rows.json")[0]["notes"] == 2


@pytest.mark.parametrize("packed", ["json", "zip", "jsonl", "jsonl.gz"])
def test_an_export_of_openmemory_in_each_of_its_files(memory, tmp_path, packed):
    document = json.loads((EXPORTS / "openmemory.json").read_text())
    path = tmp_path / f"memories.{packed}"
    if packed == "json":
        path.write_text(json.dumps(document, indent=2))
    elif packed == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("memories.json", json.dumps(document, indent=2))
            archive.writestr("memories.jsonl.gz", b"")
    else:
        names = {"c1": "work", "c2": "travel"}
        lines = [
            {name: row[name] for name in ("id", "content", "metadata", "created_at", "state")}
            | {"app": "cursor", "categories": [names[which] for which in row["category_ids"]]}
            for row in document["memories"]
        ]
        raw = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        path.write_bytes(gzip.compress(raw) if packed.endswith("gz") else raw)
    _, notes = bring(memory, path)
    assert {title: (note.state, note.labels) for title, note in notes.items()} == {
        "Invoices are numbered per year": ("active", ("work",)),
        "The old ferry was sold": ("archived", ("travel",)),
    }
    assert notes["Invoices are numbered per year"].source.agent == "cursor"


def test_an_export_of_mcp_memory_service(memory):
    done, notes = bring(memory, EXPORTS / "mcp-memory-service.json")
    assert (done["notes"], done["refused"]) == (2, [])
    pump, choice = notes["The greenhouse pump runs on 24 volts"], notes["We chose drip irrigation."]
    assert (pump.kind, pump.labels, pump.created_at) == ("note", ("greenhouse", "pump"), 1_740_902_400_500)
    assert (choice.kind, choice.labels) == ("decision", ("greenhouse", "water"))
    assert choice.body == "We chose drip irrigation.\nIt needs a third of the water."


def test_an_export_of_engram(memory):
    done, notes = bring(memory, EXPORTS / "engram.json")
    assert (done["notes"], done["refused"]) == (2, [])
    tokens = notes["Tokens are checked in the gateway"]
    assert (tokens.kind, tokens.obs_type, tokens.labels) == ("decision", "decision", ("auth/tokens",))
    assert (tokens.source.session, format_moment(tokens.created_at)) == ("s-1", "2025-04-30T08:10:00Z")
    assert notes["The portal runs on port 8443"].labels == ("config",)


def test_an_export_of_claude_mem(memory):
    done, notes = bring(memory, EXPORTS / "claude-mem.json")
    assert (done["notes"], done["refused"]) == (2, [])
    note = notes["Retries back off with jitter"]
    assert (note.kind, note.obs_type, note.subtitle) == ("event", "bugfix", "All clients came back at once")
    assert note.facts == ("The cap is 30 s", "Jitter is full")
    assert (note.modified, note.read) == (("src/retry.ts",), ("src/queue.ts",))
    assert (note.labels, note.created_at) == (("problem-solution", "gotcha"), 1_746_000_600_000)
    assert "Next steps: Watch the queue" in notes["Mend the retries"].body


def test_a_folder_of_basic_memory_with_its_observations_relations_and_tags(memory):
    done, notes = bring(memory, EXPORTS / "basic-memory")
    assert (done["notes"], done["edges"], done["refused_count"]) == (2, 1, 1)
    coffee = notes["Coffee Brewing"]
    assert coffee.facts == (
        "[method] Pour over shows more flavour than a press",
        "[technique] Water at 96 degrees extracts best (measured twice)",
    )
    assert coffee.labels == ("coffee", "brewing")
    assert coffee.body.startswith("How we brew in the office.")
    assert "buy filters" in coffee.body
    assert "[[" not in coffee.body
    assert relations(memory) == {("Coffee Brewing", "requires", "Grinder")}


@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md", "MEMORY.md"])
def test_an_instruction_file_comes_by_section(memory, tmp_path, name):
    (tmp_path / name).write_bytes((EXPORTS / "CLAUDE.md").read_bytes())
    _, notes = bring(memory, tmp_path / name)
    assert {title: note.body for title, note in notes.items()} == {
        "Portal": "The portal of the harbour.",
        "Portal: Commands": "```\n# runs everything\nmake all\n```",
        "Portal: Style": "- Use pnpm, not npm.\n- Tests with JUnit 5.",
        "Portal: Style: Names": "Tables are in the singular.",
        "Portal: Notes": "Ask before a migration.",
    }
    assert {note.kind for note in notes.values()} == {"fact" if name == "MEMORY.md" else "preference"}
    assert "pnpm" not in memory.briefing()["briefing"]


def test_the_graph_of_the_reference_server_as_one_document(memory, tmp_path):
    graph = {
        "entities": [
            {"name": "Ada", "entityType": "person", "observations": ["writes Rust"]},
            {"name": "Portal", "entityType": "project", "observations": []},
        ],
        "relations": [{"from": "Ada", "to": "Portal", "relationType": "works on"}],
    }
    (tmp_path / "graph.json").write_text(json.dumps(graph, indent=1))
    _, notes = bring(memory, tmp_path / "graph.json")
    assert notes["Ada"].facts == ("writes Rust",)
    assert relations(memory) == {("Ada", "works_on", "Portal")}


@pytest.mark.parametrize(
    ("name", "raw", "error"),
    [
        ("x.json", b'{"a": 1,\n"b": 2}', BadRequest),
        ("x.json", b"[1, 2]", BadRequest),
        ("x.json", b'{\n"results": [', BadRequest),
        ("x.zip", b"no archive", NotFound),
        ("x.jsonl.gz", b"no gzip", NotFound),
    ],
)
def test_a_file_of_no_known_program_is_refused_with_a_sentence(memory, tmp_path, name, raw, error):
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(error, match=name):
        finish(memory.import_file(str(tmp_path / name)))


def test_no_secret_of_another_programs_export_is_stored(memory, data, tmp_path):
    token = "ghp_" + "a1B2" * 9
    (tmp_path / "m.json").write_text(
        json.dumps({"results": [{"id": "1", "memory": f"The token is {token}"}]})
    )
    assert finish(memory.import_file(str(tmp_path / "m.json")))["notes"] == 1
    memory.close()
    assert token.encode() not in b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())
