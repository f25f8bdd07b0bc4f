"""The common part of all chunks of one file: tags, metadata, titles; and whether the file is
generated or vendored, by its path and first lines. Pure.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cortex.indexer.chunkers.tiles import CountTokens, split_to_budget
from cortex.indexer.syntax.outline import Outline
from cortex.indexer.syntax.source import Source
from cortex.terms.code import inline_tests
from cortex.terms.kinds import DATA_KINDS, FUNCTION_KINDS
from cortex.terms.languages import Language
from cortex.terms.paths import has_generated_name, is_test, vendored_folder
from cortex.terms.records import GENERATED, VENDORED, Chunk, ChunkType, Symbol

#: folders of a path that become tags
PATH_TAGS = 2
#: imports of one file in its metadata
IMPORTS_MAX = 64
#: characters of a doc comment that are repeated in each chunk of its definition
DOC_CHARS = 400


#: lines at the top of a file where generators leave a signature; of its leading comments, where
#: licences precede a mark
HEAD_LINES, COMMENT_LINES = 12, 100
#: characters to read of such a line, and of the leading comments
HEAD_CHARS, COMMENT_CHARS = 300, 8_000

#: signatures of generators; each counts only after a comment marker
_SIGNATURE = re.compile(
    r"@generated\b|\bDO NOT EDIT\b|<auto-?generated"
    r"|\b(?:code|file|source|module|content) (?:is|was|has been) (?:automatically |auto-?)generated\b"
    r"|\b(?:automatically|auto-?) ?generated (?:by|from|with|using|file|code)\b|^\W*generated (?:by|from|with) ",
    re.IGNORECASE,
)
#: parts of every signature and mark: a file without them is not searched
_SIGNATURE_WORDS = ("generated", "do not ed")
#: marks that are the whole line, as Go's tools define it, or begin it: no sentence on generators
_MARK = re.compile(r"\W*(?:Code generated .*\bDO NOT EDIT\b\W*$|@generated\b|<auto-?generated\b)")
#: beginning of a comment of several lines → its end
_BLOCKS = {"/*": "*/", "<!--": "-->", '"""': '"""', "'''": "'''", "{-": "-}"}
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;|<!--|%|\"\"\"|\{-|\.\.\s|'{3})")


def origin(path: str, lines: Sequence[str]) -> tuple[str, str]:
    """Return (GENERATED, VENDORED or "", the reason)."""
    if folder := vendored_folder(path):
        return VENDORED, f"below {folder}/"
    if has_generated_name(path):
        return GENERATED, f"named {path.rpartition('/')[2]}"
    top = "\n".join(lines[:COMMENT_LINES]).lower()
    if not any(word in top for word in _SIGNATURE_WORDS):
        return "", ""
    for number, line in enumerate(lines[:HEAD_LINES], 1):
        head = line[:HEAD_CHARS]
        if _COMMENT.match(head) and _SIGNATURE.search(head):
            return GENERATED, f"says so on line {number}"
    for number, line in _leading_comments(lines):
        if _MARK.match(line):
            return GENERATED, f"says so on line {number}"
    return "", ""


def _leading_comments(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield (number, line) of the comments and blank lines above the code."""
    end, size = "", 0
    for number, line in enumerate(lines[:COMMENT_LINES], 1):
        text = line[:HEAD_CHARS].strip()
        size += len(text)
        is_comment = end or not text or _COMMENT.match(text) or text.startswith("<?")
        if not is_comment or size > COMMENT_CHARS:
            return
        yield number, text
        if end:
            end = "" if end in text else end
        else:
            blocks = ((start, stop) for start, stop in _BLOCKS.items() if text.startswith(start))
            end = next((stop for start, stop in blocks if stop not in text[len(start) :]), "")


@dataclass(frozen=True)
class Frame:
    """One file while it is cut into chunks."""

    source: Source
    language: Language
    outline: Outline
    count_tokens: CountTokens
    budget: int

    @property
    def path(self) -> str:
        return self.source.path

    @functools.cached_property
    def package(self) -> str:
        if self.outline.package or not self.language.package_from_folder:
            return self.outline.package
        return self.path.rpartition("/")[0].rpartition("/")[2]

    @functools.cached_property
    def types(self) -> list[Symbol]:
        return [
            symbol
            for symbol in self.outline.symbols
            if symbol.kind not in DATA_KINDS | FUNCTION_KINDS or symbol.kind == "enum"
        ]

    @functools.cached_property
    def functions(self) -> list[Symbol]:
        return [symbol for symbol in self.outline.symbols if symbol.kind in FUNCTION_KINDS]

    @functools.cached_property
    def origin(self) -> tuple[str, str]:
        return origin(self.path, self.source.lines)

    def origin_metadata(self) -> dict[str, Any]:
        """Return origin and reason for generated and vendored files; {} for the project's own."""
        kind, why = self.origin
        return {"origin": kind, "origin_reason": why} if kind else {}

    @functools.cached_property
    def inline_tests(self) -> frozenset[int]:
        """The lines of tests in a file of shipped code, with their comments and attributes."""
        if not self.path.endswith(inline_tests.ENDING):
            return frozenset()
        above = {line for span in self.outline.attached for line in range(span.start, span.end + 1)}
        lines: set[int] = set()
        for symbol in self.outline.symbols:
            first = symbol.start_line
            while first - 1 in above:
                first -= 1
            heads = self.source.lines[first - 1 : symbol.start_line]
            if inline_tests.is_in_tests(self.path, f"{symbol.scope}.{symbol.name}") or any(
                inline_tests.marks_test(self.path, head) for head in heads
            ):
                lines.update(range(first, symbol.end_line + 1))
        return frozenset(lines)

    def is_test(self, start: int, end: int) -> bool:
        """Whether lines are of a test file, or all that are not blank in tests inside a file."""
        if is_test(self.path) or not self.inline_tests:
            return is_test(self.path)
        numbers = {number for number in range(start, end + 1) if self.source.lines[number - 1].strip()}
        return bool(numbers) and numbers <= self.inline_tests

    def tags(self, kind: ChunkType, *, test: bool | None = None) -> tuple[str, ...]:
        """Return the tags of a chunk; `test`: whether it is one, by default whether the file is."""
        category = "documentation" if self.language.kind == "document" else "code"
        folders = self.path.split("/")[:-1][:PATH_TAGS]
        tags = [
            category,
            self.language.name,
            kind,
            *folders,
            "test" if (is_test(self.path) if test is None else test) else "",
            self.origin[0],
        ]
        return tuple(dict.fromkeys(filter(None, tags)))

    def metadata(self, start: int, end: int, symbols: Sequence[Symbol]) -> dict[str, Any]:
        """Return the fields of every kind; `symbols` are the definitions in this chunk."""
        return {
            "source": "markdown" if self.language.name == "markdown" else "code",
            "file_path": self.path,
            "language": self.language.name,
            "package": self.package,
            "start_line": start,
            "end_line": end,
            "imports_count": self.outline.imports_count,
            "types_count": len(self.types),
            "functions_count": len(self.functions),
            "symbols": list(dict.fromkeys(symbol.name for symbol in symbols)),
            "definitions": [definition(symbol) for symbol in symbols],
            "is_test": self.is_test(start, end),
            **self.origin_metadata(),
        }

    def chunk(self, identity: str, kind: ChunkType, title: str, text: str, metadata: dict[str, Any]) -> Chunk:
        return Chunk(
            id=identity,
            chunk_type=kind,
            title=title,
            text=text,
            tags=self.tags(kind, test=metadata.get("is_test") is True),
            metadata=metadata,
        )

    def chunks(
        self, stem: str, kind: ChunkType, title: str, text: str, metadata: dict[str, Any]
    ) -> list[Chunk]:
        """Return one chunk, or several `{stem}-p{n}` of a text that is too long."""
        pieces = split_to_budget(text, self.count_tokens, self.budget)
        if len(pieces) == 1:
            return [self.chunk(stem, kind, title, text, metadata)]
        return [
            self.chunk(f"{stem}-p{number}", kind, f"{title} (part {number})", piece, metadata)
            for number, piece in enumerate(pieces, 1)
        ]


def definition(symbol: Symbol) -> dict[str, Any]:
    return {
        "name": symbol.name,
        "kind": symbol.kind,
        "scope": symbol.scope,
        "start_line": symbol.start_line,
        "end_line": symbol.end_line,
    }
