"""Questions to the index: one frozen dataclass for each kind, with its bounds. No I/O.

Each has `checked`, which returns the question with its arguments within their bounds; it raises
BadRequest. A Lookup is answered by one worker alone and makes the worker's message itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from cortex.query.check import check_query, check_text
from cortex.system.errors import BadRequest
from cortex.terms.bounds import clamp
from cortex.terms.text.spelling import FileLines, read_file_lines
from ipc.messages import (
    Detail,
    ExactSearch,
    Filters,
    GraphOperation,
    GraphSearch,
    MatchType,
    NameSearch,
    OutlineSearch,
    PatternSearch,
)

NO_FILTERS = Filters()

#: "auto" shows the lines that answer; the others show whole chunks in some form
AnyDetail = Literal["auto"] | Detail

#: hits of one answer
LIMIT_MAX = 100
#: hits that may be skipped; the text worker sorts no more
OFFSET_MAX = 60_000
#: bytes per token, and the bounds of `max_tokens`
TOKEN_BYTES, TOKENS_MIN, TOKENS_MAX = 4, 100, 1_000_000
#: the smallest `max_tokens` of cortex_explore, which shows several functions
EXPLORE_TOKENS_MIN = 300
#: letters of a diff
DIFF_CHARS_MAX = 2_000_000
#: tokens of an answer of whole chunks, snippets or places
TOKENS = 20_000
#: bound of an answer of lines without a `limit`: its bytes decide
LINES_MAX = 10_000
#: letters of a file's path or a chunk's id
NAME_CHARS_MAX = 4096


@dataclass(frozen=True, slots=True)
class Search:
    """A question by meaning and words. `min_score` None sets no floor."""

    query: str
    limit: int = 15
    filters: Filters = NO_FILTERS
    mode: Literal["hybrid", "semantic"] = "hybrid"
    min_score: float | None = None
    detail: AnyDetail = "full"
    max_tokens: int | None = None
    explain: bool = False
    #: whether the caller set `limit`: "auto" then shows that many, as far as they fit
    counted: bool = False

    def checked(self) -> Self:
        check_query(self.query)
        return replace(self, limit=clamp(self.limit, 1, LIMIT_MAX))

    @property
    def is_plain(self) -> bool:
        """Whether it asks for the usual form of an answer, without kinds of chunks or scores."""
        usual = (self.mode, self.min_score, self.detail, self.explain) == ("hybrid", None, "auto", False)
        return usual and not self.filters.chunk_types


@dataclass(frozen=True, slots=True)
class Related:
    """A question for the relatives of a chunk, or of a file at a line (0: the whole file). `limit`
    counts each kind.
    """

    file: str = ""
    line: int = 0
    chunk_id: str = ""
    limit: int = 10
    detail: AnyDetail = "snippet"
    max_tokens: int | None = None

    def checked(self) -> Self:
        from cortex.ranking.traces import find_frames

        place, frames = read_file_lines(self.file), find_frames(self.file[:NAME_CHARS_MAX])
        if frames and (" " in place.path or not place.line):  # a line of a trace
            place = FileLines(frames[0].path, frames[0].line)
        file, line, chunk_id = place.path, self.line or place.line, self.chunk_id.strip()
        if bool(file) == bool(chunk_id):
            raise BadRequest("Pass either `file` (with `line`, for what is around it) or `chunk_id`.")
        if any("\0" in name or len(name) > NAME_CHARS_MAX for name in (file, chunk_id)):
            raise BadRequest("`file` and `chunk_id` must be names as search results give them.")
        limit = clamp(self.limit, 1, LIMIT_MAX)
        return replace(self, file=file, line=max(0, line), chunk_id=chunk_id, limit=limit)


@dataclass(frozen=True, slots=True)
class Explore:
    """A question, place (`file:line`) or symbol; or a unified `diff` of indexed files."""

    query: str = ""
    diff: str = ""
    max_tokens: int = 2_500

    def checked(self) -> Self:
        if self.diff.strip():
            if len(self.diff) > DIFF_CHARS_MAX:
                raise BadRequest(f"`diff` is longer than {DIFF_CHARS_MAX} letters; pass that of fewer files.")
        else:
            check_query(self.query)
        return replace(self, max_tokens=clamp(self.max_tokens, EXPLORE_TOKENS_MIN, TOKENS_MAX))


@dataclass(frozen=True, slots=True)
class Exact:
    """A keyword question (syntax: docs/SEARCH.md) to the text worker."""

    query: str
    match_type: MatchType | None = None
    limit: int = 15
    offset: int = 0
    filters: Filters = NO_FILTERS
    detail: AnyDetail = "full"
    max_tokens: int | None = None
    #: tokens of an answer of lines where the caller sets none
    usual_tokens: int = TOKENS
    #: whether the caller set `limit`: show that many lines, otherwise as many as fit
    counted: bool = False
    #: whether the answer is text: it names each line, at least by its number
    as_text: bool = False
    #: whether all hits are counted by language and folder
    facets: bool = False

    def checked(self) -> Self:
        check_query(self.query)
        return self

    def request(self, generation: int) -> ExactSearch:
        return ExactSearch(
            query=self.query,
            match_type=self.match_type,
            limit=clamp(self.limit, 1, LIMIT_MAX),
            offset=clamp(self.offset, 0, OFFSET_MAX),
            filters=self.filters,
            detail="location" if self.detail == "auto" else self.detail,
            max_bytes=budget(self.max_tokens, self.usual_tokens if self.detail == "auto" else TOKENS),
            generation=generation,
            lines=(clamp(self.limit, 1, LIMIT_MAX) if self.counted else LINES_MAX)
            if self.detail == "auto"
            else 0,
            alike=self.detail == "auto" and not self.counted,
            every=self.detail == "auto" and self.as_text,
            facets=self.facets,
        )


@dataclass(frozen=True, slots=True)
class Graph:
    """A question about relations to the graph worker; fields as in GraphSearch. A compact answer
    shows the line itself even without context, a brief one only places.
    """

    operation: GraphOperation
    target: str
    to: str = ""
    scope: str = ""
    exclude_patterns: tuple[str, ...] = ()
    include_context: bool = True
    context_lines: int = 2
    depth: int = 1
    max_results: int = 100
    max_per_level: int = 50
    offset: int = 0
    detail: Literal["compact", "full"] = "compact"
    brief: bool = False

    @property
    def is_usual(self) -> bool:
        """Whether the caller left the number of results and their form to the tool."""
        return (self.max_results, self.max_per_level, self.detail) == (100, 50, "compact")

    def checked(self) -> Self:
        if not self.target.strip() and self.operation != "routes":
            problem = "The target is empty" if self.target else "The argument `target` is required"
            raise BadRequest(f"{problem}. Pass the name of a type, function, method or file.")
        if self.target.strip():
            check_text(self.target, "target")
        if self.to:
            check_text(self.to, "name in `to`")
        return self

    def request(self, generation: int) -> GraphSearch:
        is_compact = self.detail == "compact"
        return GraphSearch(
            operation=self.operation,
            target=self.target,
            to=self.to,
            scope=self.scope,
            exclude_patterns=self.exclude_patterns,
            include_context=(self.include_context or is_compact) and not self.brief,
            context_lines=self.context_lines if self.include_context else 0,
            depth=self.depth,
            max_results=self.max_results,
            max_per_level=self.max_per_level,
            offset=self.offset,
            generation=generation,
            tests_last=self.brief,
        )


@dataclass(frozen=True, slots=True)
class Outline:
    """A question for the contents of a file or folder ("" for the project), to the graph worker."""

    path: str = ""
    max_tokens: int = 4_000

    def checked(self) -> Self:
        if self.path:
            check_text(self.path, "path")
        return self

    def request(self, generation: int) -> OutlineSearch:
        return OutlineSearch(self.path, budget(self.max_tokens), generation)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A question for the places in files of `language` that match `pattern`, to the graph
    worker.
    """

    pattern: str
    language: str
    paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    limit: int = 50

    def checked(self) -> Self:
        check_text(self.pattern, "pattern")
        return self

    def request(self, generation: int) -> PatternSearch:
        return PatternSearch(
            self.pattern, self.language, self.paths, self.exclude_paths, self.limit, generation
        )


@dataclass(frozen=True, slots=True)
class Names:
    """A question for the paths or symbols that begin with `prefix`, to the graph worker."""

    prefix: str
    kind: Literal["path", "symbol"] = "path"
    limit: int = 100

    def checked(self) -> Self:
        if self.prefix:
            check_text(self.prefix, "prefix")
        return self

    def request(self, generation: int) -> NameSearch:
        return NameSearch(self.prefix, self.kind, self.limit, generation)


Lookup = Exact | Graph | Outline | Pattern | Names


def budget(max_tokens: int | None, usual: int = TOKENS) -> int:
    """Return the bytes of an answer of `max_tokens`; of `usual` tokens where that is None."""
    return TOKEN_BYTES * clamp(usual if max_tokens is None else max_tokens, TOKENS_MIN, TOKENS_MAX)


def count_fitting(sizes: Sequence[int], max_bytes: int) -> int:
    """Return how many leading results fit `max_bytes`; at least one, if there is any."""
    used = 0
    for at, size in enumerate(sizes):
        used += size
        if used > max_bytes and at:
            return at
    return len(sizes)
