"""Questions to the index: one frozen dataclass for each kind, with its bounds. No I/O.

Each has `checked`, which returns the question with its arguments within their bounds; it raises
BadRequest. Questions to the graph worker are its messages themselves (`structure`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from cortex.query.check import check_query
from cortex.system.errors import BadRequest
from cortex.terms.bounds import clamp
from cortex.terms.budget import TOKEN_BYTES, first_fitting
from cortex.terms.text.spelling import FileLines, read_file_lines
from ipc.messages import Detail, ExactSearch, Filters, MatchType

NO_FILTERS = Filters()

#: "auto" shows the lines that answer; the others show whole chunks in some form
AnyDetail = Literal["auto"] | Detail

#: hits of one answer
LIMIT_MAX = 100
#: hits that may be skipped; the text worker sorts no more
OFFSET_MAX = 60_000
#: bounds of `max_tokens`
TOKENS_MIN, TOKENS_MAX = 100, 1_000_000
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
#: what precedes the subject of a commit: `fix(editor): `, `feat!: `, `Fix `; documents and tests
#: are wanted where it names them
_SUBJECT = re.compile(
    r"\s*(?:(?i:fix|feat|feature|bug|chore|refactor|perf|style|revert)(?:\((?P<scope>[^()\n]{1,60})\))?!?:\s+"
    r"|Fix(?:es)?\s+(?=\S+\s+\S))"
)


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
        return replace(self, query=subject_of(self.query), limit=clamp(self.limit, 1, LIMIT_MAX))

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


def budget(max_tokens: int | None, usual: int = TOKENS) -> int:
    """Return the bytes of an answer of `max_tokens`; of `usual` tokens where that is None."""
    return TOKEN_BYTES * clamp(usual if max_tokens is None else max_tokens, TOKENS_MIN, TOKENS_MAX)


def count_fitting(sizes: Sequence[int], max_bytes: int) -> int:
    """Return how many leading results fit `max_bytes`; at least one, if there is any."""
    return len(first_fitting(sizes, int, max_bytes, least=1))


def subject_of(question: str) -> str:
    """Return a question without the mark of a commit's kind, which would match names: "fix" those
    of `FixedSegment`. Its scope stays.
    """
    match = _SUBJECT.match(question)
    return (
        question if match is None else f"{match['scope'] or ''} {question[match.end() :]}".strip() or question
    )
