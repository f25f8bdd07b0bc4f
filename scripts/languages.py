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

from cortex.graph.languages.table import LANGUAGES
from cortex.indexer.chunkers import CHUNKERS_VERSION
from cortex.indexer.chunkers.frame import HEAD_LINES
from cortex.indexer.scan import FOLDERS_SKIPPED, GENERATED, GENERATED_SUFFIXES
from cortex.indexer.syntax.parse import PARSE_STEPS_MIN, PARSE_STEPS_PER_BYTE
from cortex.indexer.syntax.source import LINE_CHARS_MAX, MINIFIED_CHARS_MIN, SCRIPTS
from cortex.terms.kinds import DATA_KINDS
from cortex.terms.languages import KEYED, PARSED, WINDOWED, Language
from cortex.terms.paths import VENDORED_FOLDERS

PLACE = Path(__file__).parent.parent / "docs" / "LANGUAGES.md"

TEXT = """\
# Languages

For users: the files that Cortex indexes, how it cuts them into chunks, and the files that it leaves out. `scripts/languages.py` writes this page
from the code; edit that script, not the page. Version of the chunks: {version}. Their fields are in [CHUNKS.md](CHUNKS.md).

To add a language: one row in `cortex/terms/languages.py`, a query file `cortex/indexer/syntax/queries/<name>.scm` (its captures
are described in `parse.py`), the grammar's wheel in `pyproject.toml`, and a sample with its golden file in
`tests/golden/indexer`. To add a configuration format: one row with a pattern for the first line of each block.

## Code, cut along its syntax

Every language has `code` chunks, which cover each line exactly once. Files with definitions also have the views `symbols`
(an overview) and `definitions` (signatures and type bodies), and `data` where the language has constants, enums or globals.
Column `graph`: either the code graph resolves calls and types ([GRAPH.md](GRAPH.md)), or it has definitions only.

| language | files | definitions | data | graph |
|---|---|---|---|---|
{parsed}

HTML, Vue and Svelte have the definitions of their embedded scripts and style sheets, each read in its own language.

The graph reads the scripts and templates of Vue, Svelte, Astro and MDX, and HTML pages that have a script. Scripts follow the
rules of JavaScript and TypeScript; several scripts of a file share their names. A component is the default export of its file and
has the file's name (`MyCard` of `my-card.vue`). `<MyCard>` and `<my-card>` are calls, without an import of the only component of that
name. Expressions of templates are read: `{{{{ f() }}}}`, `@click="f"`, `v-for`, `{{f()}}`, `{{#each f() as x}}`, `use:f`. `$lib` is SvelteKit's
`src/lib`, and `/src/main.ts` is searched from the page's folder upwards. *Not read:* methods of Vue's options objects, scripts in other
languages, handlers such as `onclick`.

The grammar of SQL takes 14 MB and is an extra (in the clone: `uv tool install '.[sql]'`). Without it SQL files are cut into windows
of lines, with a remark in the report; after its installation they are cut again.

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

PDF and office files are read where the extra is installed (in the clone, `uv tool install '.[documents]'`: pypdf, python-docx,
python-pptx and openpyxl). Without it they are listed as left out, with that command. A separate process reads each file, with 20 s,
1 GB, 1 000 pages and 2 000 000 characters at most, so a damaged or hostile file costs only its own text. Line numbers count lines of the extracted text;
`[page 3]` precedes each page of a PDF, `[slide 3]` the text, tables and notes of a slide, `[sheet Name]` the rows of a sheet.

## Everything else that is text: windows of lines

These names serve as filters by language. The cuts follow indentation and blank lines. Any other text file is cut in the same way.

| language | files |
|---|---|
{windows}

## How long a chunk is

At most `indexing.chunk_tokens` (300) tokens of the embedder's own tokenizer. A longer function is cut between statements, at
the place that splits the fewest syntax nodes. Only a line that is longer than a chunk is cut inside.

## Files that are left out, and files that count less

`cortex index --verbose` lists each file that is left out or read with a reservation, and `cortex status` counts them.

* Ignored and not listed: matches of `.gitignore` (nested, above the project, `.git/info/exclude`, `core.excludesFile` of the user), read
  exactly as git reads them; of `.cortexignore` and `indexing.ignore`; files outside `indexing.include` and `indexing.languages`; and the folders
  {folders}.
* The first that decides wins: the fixed rules (our cache, git's folders, secrets, binary and generated files, the folders above);
  `indexing.ignore`; `.cortexignore`; git's index, since a file that git tracks belongs to the project although a rule of git matches; git's rules.
  `cortex why FILE` names the one that decided. Where git does not list its index (another user's folder, no answer in 10 s, damage), the rules
  decide alone, and `cortex status` says so. `indexing.respect_gitignore: false` ignores both git's rules and its index.
* A file is read again when its size is another. Another mtime, ctime or inode (no inodes on network folders and FUSE), or a save less than two seconds
  before it was read, means that its content is compared, and nothing more if that is the same.
* Left out, and named: everything below a folder that is a git repository itself (a bare clone, `.bare`, a fixture; tracked or not), another worktree
  of the same repository, and a clone in a repository unless it is a submodule. In a folder without git its clones belong to it.
* Left out: symbolic links (no loop can arise), unreadable files and folders, files that a chunker stumbles over, files over `indexing.max_file_kb`, binary files,
  files that may hold secrets, data written by programs ({generated}; {suffixes}), minified files (a line of more than
  {line_chars} characters; {scripts} with more than {minified} characters a line).
* Marked `generated`: by file name (`*_pb2.py`, `*.pb.go`, `zz_generated.*`, …) or a remark in the first {head_lines} lines or below a licence
  (`@generated`, `DO NOT EDIT`, …). Marked `vendored`: below {vendored}. Searches find them, but rank them
  behind the project's own code of about the same relevance (`foreign` in [RANKING.md](RANKING.md)). The chunk's `origin_reason` names the evidence,
  and both words are tags for filters.
* Text or binary: the bytes decide, as in git (a NUL among the first 8,000), except for pictures, sounds, archives, programs and the like, which
  their suffix leaves out. So a `.mo` of Modelica, a `.lib` of circuits, a `.dat` with numbers are indexed, and Qt's translations in `.ts` are XML.
* Encodings, the first that decides wins: a byte order mark; UTF-8; the encoding that the file names (PEP 263, Emacs, Ruby and Vim in comments; XML,
  `<meta charset>`, `@charset`, JSP, Perl, PHP, LaTeX); `working-tree-encoding` or `encoding` in `.gitattributes`; `charset` in `.editorconfig`; UTF-8 with
  a few other bytes; a guess. `cortex index --verbose` names the encoding, and an answer that shows a guessed file says so. A changed `.gitattributes` or
  `.editorconfig` has the files read again that are not UTF-8. With few letters of UTF-8, which may be there by chance, the name wins.
* Read with a reservation: of a file with syntax errors, the lines that the grammar does not understand are blanked for the parser, and definitions
  that it still misses are found line by line (Kotlin, C#, Java, Swift, Scala, Rust, Go, Python, PHP, Ruby, JavaScript, TypeScript). An answer that shows the
  file says which lines were not understood, with the name of the syntax if it is known. A file that needs more than {steps} parser steps and one more for each {each} bytes, or crashes the parser, is cut into windows of lines.

## Time

Shares of the processor time of a first run over Python with the default embedder: parsing 15 %, the outline (one query and
its captures) 20 %, cutting and counting tokens 8 %, the graph's facts (another query) 22 %, embedding 10 %, reading and
writing files 5 %, resolving the graph's names 20 %. All of it runs in one process for each core; resolution begins after
the last file is read. An unchanged tree costs one walk over its files. A saved file costs its own work and a new copy of its
shard (about 96 files). Figures: `scripts/bench/results/*-index.json`, measured by `scripts/bench/index.py`.
"""


def render() -> str:
    documents = [language for language in (*PARSED, *WINDOWED) if language.kind == "document"]
    return TEXT.format(
        version=CHUNKERS_VERSION,
        parsed=_rows((parsed, *_kinds(parsed)) for parsed in PARSED if parsed.kind != "document"),
        keyed=_rows((keyed,) for keyed in KEYED),
        documents=_rows((document,) for document in documents),
        windows=_rows((unparsed,) for unparsed in WINDOWED if unparsed.kind == "code"),
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
    """Return (definitions, data, graph): the kinds that the query files capture."""
    folder = resources.files("cortex.indexer.syntax").joinpath("queries")
    text = folder.joinpath(f"{language.query}.scm").read_text("utf-8")
    kinds = dict.fromkeys(re.findall(r"@definition\.(\w+)", text))
    if language.query == "html":
        return "of its parts", "of its parts", "resolved"
    definitions = ", ".join(kind for kind in kinds if kind not in DATA_KINDS)
    return definitions, ", ".join(kind for kind in kinds if kind in DATA_KINDS), _graph(language.name)


def _graph(name: str) -> str:
    language = LANGUAGES.get(name)
    return "" if language is None else "resolved" if language.syntax.queries else "definitions"


def _words(names: Iterable[str], *, keep: bool = False) -> str:
    return " ".join(f"`{name}`" for name in dict.fromkeys(names if keep else sorted(names)))


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(render(), end="")
    else:
        PLACE.write_text(render())
