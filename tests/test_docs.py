"""The documents say what the code does: every message, every section, every wire code."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import orjson
import yaml

from cortex.generation.current import Generation
from cortex.generation.graph import write_graph
from cortex.generation.segments.segment import open_segment
from cortex.generation.write import Row, write_rows
from cortex.publish.chunk_file_reader import read_chunk_file
from cortex.system.errors import BY_CODE
from cortex.terms.records import CHUNK_TYPES, VIEW_TYPES
from ipc.messages import PROTOCOL, Message

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def test_the_protocol_names_every_message_with_its_fields():
    text = (DOCS / "PROTOCOL.md").read_text()
    assert f"Version: **{PROTOCOL}**" in text
    for message in Message.by_name.values():
        if not message.__module__.startswith("ipc."):
            continue  # a test's own
        row = next(line for line in text.splitlines() if line.startswith(f"| `{message.__name__}`"))
        for field in message.__struct_fields__:
            assert f"`{field}`" in row, f"{message.__name__}.{field}"


def test_the_protocol_names_every_wire_code():
    text = (DOCS / "PROTOCOL.md").read_text()
    assert all(f"`{code}`" in text for code in BY_CODE)


def test_the_segment_document_names_every_section(tmp_path):
    body = {"id": "a", "chunk_type": "code", "text": "", "tags": ["x"], "metadata": {"file_path": "a"}}
    write_rows(tmp_path / "s", [Row(1, body, "f.json", bytes(16), np.ones(4, np.float32), "m")], 4)
    graph = {"nodes": [], "edges": [], "_metadata": {}}
    write_graph(tmp_path / "g", orjson.dumps(graph))
    _, rows_text, graph_text = (DOCS / "SEGMENT.md").read_text().split("### Sections")
    assert first_column(rows_text) == set(open_segment(tmp_path / "s").names)
    assert first_column(graph_text) == set(open_segment(tmp_path / "g").names)


def test_the_segment_document_names_every_field_of_current():
    text = (DOCS / "SEGMENT.md").read_text()
    current = text.partition("## CURRENT")[2].partition("\n## ")[0]
    assert first_column(current) == set(Generation.__dataclass_fields__)


def first_column(text):
    """Return the names in the first column of the tables of `text`."""
    cells = re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_the_table_of_languages_matches_the_code():
    command = [sys.executable, "-P", str(ROOT / "scripts" / "languages.py"), "--print"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == (DOCS / "LANGUAGES.md").read_text(), "run scripts/languages.py"


def test_every_field_of_a_chunks_metadata_is_described():
    text = (DOCS / "CHUNKS.md").read_text()
    described = first_column(text.partition("## Metadata")[2])
    written: set[str] = set()
    for golden in (ROOT / "tests" / "golden" / "indexer").glob("*.json"):
        for chunk in orjson.loads(golden.read_bytes()):
            written |= chunk["metadata"].keys()
    assert written - {"source"} <= described


def test_every_kind_of_chunk_is_described_and_its_views_are_named():
    text = (DOCS / "CHUNKS.md").read_text().partition("## Kinds")[2].partition("\n## ")[0]
    kinds = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE))
    assert kinds.keys() == set(CHUNK_TYPES)
    assert {kind for kind, meaning in kinds.items() if meaning.startswith("a view")} == VIEW_TYPES


def test_the_example_of_a_chunk_file_is_read(tmp_path):
    text = (DOCS / "CHUNKS.md").read_text()
    example = orjson.loads(re.findall(r"```json\n(.*?)```", text, re.DOTALL)[0])
    for chunk in example["chunks"]:
        chunk["embedding"] = [1.0] * example["_metadata"]["dimensions"]
    path = tmp_path / "definitions.json"
    path.write_bytes(orjson.dumps(example))
    read = read_chunk_file(path, example["_metadata"]["dimensions"])
    assert list(read.chunks) == [chunk["id"] for chunk in example["chunks"]]
    assert read.sequence == example["_metadata"]["sequence"]
    assert not read.warnings


def test_each_word_of_the_glossary_names_a_part_of_the_code_that_exists():
    rows = re.findall(r"^\| .+? \| .+? \| (.+) \|$", (DOCS / "GLOSSARY.md").read_text(), re.MULTILINE)
    names = {name for cell in rows for name in re.findall(r"`([\w.]+)`", cell)}
    paths = [path for room in ("ipc", "cortex", "workers") for path in (ROOT / room).rglob("*.py")]
    modules = {component for path in paths for component in path.relative_to(ROOT).with_suffix("").parts}
    source = "\n".join(path.read_text() for path in paths)
    defined = set(re.findall(r"^ *(?:class |def |async def |)(\w+)(?=[ :=(\[])", source, re.MULTILINE))
    assert len(names) > 40
    assert {component for name in names for component in name.split(".")} <= modules | defined


def test_every_document_is_a_page_of_the_site_and_linked_from_its_first() -> None:
    documents = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    _, use, inside = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    assert {*use["Use"], *inside["Inside"]} == documents
    linked = re.findall(r"\]\(([^)]+)\)", (ROOT / "docs" / "index.md").read_text())
    assert sorted(linked) == sorted(documents)
