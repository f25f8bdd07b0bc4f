"""The index of units beside the text index: its fields, its documents, and its writer."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import tantivy

from cortex.engines.text.index.schema import RAW, READY
from cortex.engines.text.index.writer import IndexWriter
from cortex.terms import tokens
from cortex.terms.code.inline_tests import is_test_code
from cortex.terms.ids import key_of
from cortex.terms.units import SECTION, Unit, find_units
from ipc.messages import UNIT_SIGNALS

#: classes of units: shipped code; tests, and sections of documents
CODE, ASIDE = "code", "aside"
#: the folder of its generations in that of the text index
UNITS = "units"
#: most bytes of heap: a unit takes a fifth of a chunk, because it has no positions
_HEAP = 60_000_000


def make_unit_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in UNIT_SIGNALS:
        builder.add_text_field(name, tokenizer_name=READY, index_option="freq")
    for name in ("source", "class"):
        builder.add_text_field(name, tokenizer_name=RAW, index_option="basic")
    builder.add_unsigned_field("file", fast=True)
    builder.add_bytes_field("json", stored=True, indexed=False)
    return builder.build()


class UnitWriter(IndexWriter):
    """The writer of the documents of units, in `text/units/`, replaced file by file."""

    def __init__(self, folder: Path, published: str) -> None:
        super().__init__(folder, published, make_unit_schema, _HEAP)

    def add_sources(self, sources: Mapping[str, Sequence[dict[str, Any]]]) -> None:
        """Begin a build with the units of `sources`, as in `protocol.Change`, in place of those
        that these files had, as `add`.
        """
        documents = (document for path in sources for document in make_unit_documents(path, sources[path]))
        self.add(documents, (("source", path) for path in sources))


def make_unit_documents(path: str, chunks: Sequence[Mapping[str, Any]]) -> Iterator[tantivy.Document]:
    """Return the tantivy documents of the units of a file with these covering chunks."""
    file = key_of(path)
    for unit in find_units(chunks) if chunks else ():
        document = tantivy.Document()
        for name, text in _texts(unit).items():
            if text:
                document.add_text(name, text)
        document.add_text("source", path)
        is_aside = unit.kind == SECTION or is_test_code(path, unit.symbol)
        document.add_text("class", ASIDE if is_aside else CODE)
        document.add_unsigned("file", file)
        document.add_bytes("json", unit.to_json(path))
        yield document


def _texts(unit: Unit) -> dict[str, str]:
    """Return the fields of a unit as finished tokens."""
    return {
        "body": _tokens(unit.text),
        "name": _tokens(" ".join((unit.name, *unit.names))),
        "owner": _tokens(unit.owner),
        "signature": _tokens(unit.signature),
    }


def _tokens(text: str) -> str:
    if not text:
        return ""
    one_word = text.isascii() and text.isidentifier()
    return tokens.lane_text([text] if one_word else tokens.words(text))
