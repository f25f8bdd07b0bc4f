"""A tantivy index of words on disk that follows the store by the number of the last change.
Contents and scoring are elsewhere.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import tantivy
from tantivy import Query

from cortex.memory.store.records import Point
from cortex.system import files
from cortex.system.process.timers import late_threads
from cortex.terms import tokens

#: the tokenizer for words that are prepared, separated by blanks
_READY = "cortex_ready"
#: the file in an index's folder that `mark_erased` makes
ERASED = "erased"


def open_index(folder: Path, fields: Iterable[str], *, exact_fields: Iterable[str] = ()) -> tantivy.Index:
    """Open the index in `folder`; rebuild it if it is damaged or of another version. Its documents
    have the numbers `number`, `change` and `mark`, `fields` of words, and `exact_fields`.
    """
    builder = tantivy.SchemaBuilder()
    for name in ("number", "change", "mark"):
        builder.add_unsigned_field(name, indexed=True, fast=True)
    for name in exact_fields:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in fields:
        builder.add_text_field(name, tokenizer_name=_READY, index_option="freq")
    schema = builder.build()
    files.make_private(folder)
    try:
        index = _open(schema, folder)
        index.searcher()
    except ValueError:
        files.remove_tree(folder)
        files.make_private(folder)
        index = _open(schema, folder)
    ready = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    index.register_tokenizer(
        _READY, ready.filter(tantivy.Filter.remove_long(tokens.WORD_BYTES_MAX + 1)).build()
    )
    return index


def _open(schema: tantivy.Schema, folder: Path) -> tantivy.Index:
    with late_threads():  # its reader checks twice a second for another commit
        return tantivy.Index(schema, path=str(folder))


def mark_erased(folder: Path) -> None:
    """Note that the index in `folder` holds words of erased rows: its files lose them only when the
    index is made anew, which removes the mark as well.
    """
    files.replace(folder / ERASED, b"")


def holds_erased(folder: Path) -> bool:
    """Whether the index was marked, perhaps by a process that was killed since."""
    return os.path.lexists(folder / ERASED)


def reached(searcher: tantivy.Searcher) -> Point:
    """The last change in the index."""
    newest = [at for _, at in searcher.search(Query.all_query(), 1, order_by_field="change").hits]
    numbers, marks = (searcher.fast_field_values(name, newest) for name in ("change", "mark"))
    return Point(int(numbers[0] or 0), int(marks[0] or 0)) if newest else Point()
