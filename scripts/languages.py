"""Writes docs/LANGUAGES.md from the language table, the query files and the rules of the scan.

python scripts/languages.py            writes the file
python scripts/languages.py --print    prints it
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from cortex.graph.facts.grammars import RULES, SYNTAX
from cortex.indexer.chunkers import CHUNKERS_VERSION
from cortex.indexer.scan import FOLDERS_SKIPPED, GENERATED, GENERATED_SUFFIXES
from cortex.indexer.syntax.origins import HEAD_LINES
from cortex.indexer.syntax.parse import PARSE_STEPS_MIN, PARSE_STEPS_PER_BYTE
from cortex.indexer.syntax.source import LINE_CHARS_MAX, MINIFIED_CHARS_MIN, SCRIPTS
from cortex.terms.kinds import DATA_KINDS
from cortex.terms.languages import KEYED, NAMED, PARSED, Language
from cortex.terms.paths import VENDORED_FOLDERS

PLACE = Path(__file__).parent.parent / "docs" / "LANGUAGES.md"

TEXT = """\
# Languages

What is indexed, how it is cut, and what is left out. Written by `scripts/languages.py` from the code: change that, run it,
and never edit this file. Chunks of version {version}.

To add a language: one row in `cortex/terms/languages.py`, a query file `cortex/indexer/syntax/queries/<name>.scm` (its captures
are described in `parse.py`), the grammar's wheel in `pyproject.toml`, and a sample with its golden file in
`tests/golden/indexer`. To add a configuration format: one row with a pattern for the first line of each block.

## Code, cut along its syntax

Every language has `code` chunks, which cover each line exactly once. Files with definitions also have the views `symbols`
(an overview) and `definitions` (signatures and type bodies), and `data` where the language has constants, enums or globals.
`graph`: callers, callees and the like are resolved (docs/GRAPH.md), or only definitions are in it.

| language | files | definitions | data | graph |
|---|---|---|---|---|
{parsed}

HTML, Vue and Svelte have the definitions of what is embedded in them: scripts and style sheets, each read in its own language.

The grammar of SQL takes 14 MB and is an extra (`pip install 'cortex-context-engine[sql]'`). Without it such files are cut into windows
of lines, and a remark says so; once it is there they are cut again.

## Configuration, one block for each key

Each top-level key, table, target, stage, block or type is shown in the `data` chunks.

| format | files |
|---|---|
{keyed}

## Documents

Cut at headings, never inside a fenced block; `parent` names the section above. MDX is read as Markdown. Notebooks are their
cells, code cells in the notebook's language, with the lines of their source; outputs are left out.

| format | files |
|---|---|
{documents}

PDF and office files are read where the extra is installed (`pip install 'cortex-context-engine[documents]'`: pypdf, python-docx,
python-pptx and openpyxl), and listed as left out with that sentence where it is not. Each is read by a process of its own, with 20 s,
1 GB, 1 000 pages and 2 000 000 characters at most, so that a damaged or hostile one costs its own text. Lines are those of the text;
`[page 3]` stands above each page of a PDF, `[slide 3]` above the text, tables and notes of a slide, `[sheet Name]` above the rows of a sheet.

## Everything else that is text: windows of lines

Named so that they can be filtered by language; cut where indentation and blank lines suggest it. Any other text likewise.

| language | files |
|---|---|
{windows}

## What the metadata of a chunk says

| field | of | what |
|---|---|---|
| `file_path`, `language`, `package` | all | the file; the package by its declaration, in Python by its folder |
| `start_line`, `end_line` | all | the exact lines, 1-based and inclusive |
| `symbols` | all | names defined in these lines |
| `definitions` | code, views | each of them with kind, enclosing scope, first and last line |
| `scope` | code | the path of the definition that encloses the chunk (`Class.method`), "" at the top |
| `signature` | code | that of the enclosing definition |
| `doc` | code | its doc comment, where the chunk does not hold it |
| `comment_text` | code, views | the words of comments and docstrings in these lines |
| `imports`, `imports_count` | symbols; all | imports as written; how many |
| `types_count`, `functions_count` | all | of the whole file |
| `parent` | code, documentation, views | the id of the chunk that this one continues or that holds it |
| `is_test` | all | whether the path says so |
| `origin`, `origin_reason` | all | `generated` or `vendored`, and how that is known |
| `section_index`, `chunk_index`, `headings` | documentation | where in the document |
| `cell` | notebooks | the number of the cell |

Without a grammar `definitions` and `comment_text` are missing: nobody has looked, and readers find them by the usual words.
The file's path and the scope stand before the text that is embedded, not in the text that is shown.

## How long a chunk is

At most `indexing.chunk_tokens` (300) tokens of the embedder's own tokenizer. A longer function is cut where the fewest syntax
nodes are cut through: between its statements; only a single line that is too long is cut inside.

## What is left out, and what counts less

Each file that is left out or read with a reservation is listed by `cortex index --verbose` and counted by `cortex status`.

* Ignored, without a word: what `.gitignore` (nested, above the project, `.git/info/exclude`, `core.excludesFile`),
  `.cortexignore` and `indexing.ignore` say, what `indexing.include` and `indexing.languages` do not take in, and the folders
  {folders}.
* Left out: symbolic links (no loop can arise), unreadable files and folders, files that a chunker stumbles over, files over `indexing.max_file_kb`, binary files,
  files that may hold secrets, data that programs write ({generated}; {suffixes}), minified files (a line of more than
  {line_chars} characters; {scripts} with more than {minified} characters a line).
* Marked `generated`: by name (`*_pb2.py`, `*.pb.go`, `zz_generated.*`, …) or a remark in the first {head_lines} lines
  (`@generated`, `DO NOT EDIT`, …). Marked `vendored`: below {vendored}. They are found, but the ranking
  puts them behind the project's own code that answers about as well (`foreign` in RANKING.md); the chunk's `origin_reason` says why,
  and both words are tags to filter by.
* Read with a reservation: what is not UTF-8 is read as Latin-1; files with syntax errors keep what the parser made out; a file
  that takes a parser more than {steps} steps and one for each {each} bytes, or ends it, is cut into windows of lines.

## Where the time goes

Of a cold run over Python with the default embedder, in shares of the processor time: parsing 15 %, the outline (one query and
its captures) 20 %, cutting and counting tokens 8 %, the graph's facts (another query) 22 %, embedding 10 %, reading and
writing files 5 %, resolving the graph's names 20 %. All of it runs in one process for each core; resolving begins when
everything is read. An unchanged tree costs one walk over its files. A saved file costs its own work and the rewriting of its
shard (about 96 files). Figures: `scripts/bench/results/*-index.json`, measured by `scripts/bench/index.py`.
"""


def render() -> str:
    documents = [language for language in (*PARSED, *NAMED) if language.kind == "document"]
    return TEXT.format(
        version=CHUNKERS_VERSION,
        parsed=_rows((one, *_kinds(one)) for one in PARSED if one.kind != "document"),
        keyed=_rows((one,) for one in KEYED),
        documents=_rows((one,) for one in documents),
        windows=_rows((one,) for one in NAMED if one.kind == "code"),
        folders=_words(FOLDERS_SKIPPED),
        generated=_words(GENERATED),
        suffixes=_words(GENERATED_SUFFIXES),
        scripts=_words(SCRIPTS),
        line_chars=f"{LINE_CHARS_MAX:,}",
        minified=MINIFIED_CHARS_MIN,
        head_lines=HEAD_LINES,
        vendored=_words(VENDORED_FOLDERS),
        steps=f"{PARSE_STEPS_MIN:,}",
        each=f"{1 / PARSE_STEPS_PER_BYTE:g}",
    )


def _rows(rows: Iterable[tuple[Language, *tuple[str, ...]]]) -> str:
    return "\n".join(
        f"| {' | '.join((language.name, _words((*language.suffixes, *language.names), keep=True), *more))} |"
        for language, *more in rows
    )


def _kinds(language: Language) -> tuple[str, str, str]:
    """(definitions, data, graph) as the query file captures them."""
    folder = resources.files("cortex.indexer.syntax").joinpath("queries")
    text = folder.joinpath(f"{language.query}.scm").read_text("utf-8")
    kinds = dict.fromkeys(re.findall(r"@definition\.(\w+)", text))
    if language.query == "html":
        return "of its parts", "of its parts", ""
    definitions = ", ".join(kind for kind in kinds if kind not in DATA_KINDS)
    return definitions, ", ".join(kind for kind in kinds if kind in DATA_KINDS), _graph(language.name)


def _graph(name: str) -> str:
    return "resolved" if name in SYNTAX else "definitions" if name in RULES else ""


def _words(names: Iterable[str], *, keep: bool = False) -> str:
    return " ".join(f"`{name}`" for name in dict.fromkeys(names if keep else sorted(names)))


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(render(), end="")
    else:
        PLACE.write_text(render())
