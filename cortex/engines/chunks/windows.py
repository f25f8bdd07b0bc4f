"""The choice of windows, in the best files, that answer a question. Pure."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

import numpy as np

from cortex.engines.chunks.line_scores import (
    LITERAL,
    FileScores,
    Question,
    ScoredUnit,
    find_callees,
    score_units,
)
from cortex.engines.chunks.source import Source, Unit
from cortex.ranking.lines import fill_short_gaps, weigh_lines
from cortex.system.arrays import Array
from cortex.terms.code import inline_tests
from cortex.terms.paths import (
    asks_for_records,
    asks_for_tests,
    is_built,
    is_example,
    is_foreign,
    is_record,
    is_test,
    page_of,
)
from ipc.messages import Place, Show

#: bytes of an entry without its text and its path, which is written twice
ENTRY_BYTES = 130
#: a function of at most so many lines is shown completely; of a longer one so many, plus its
#: signature and short gaps: for the best function, and for all when the request has a limit
WHOLE_LINES = 14
#: a weaker function gets (its score / the best score) to this power of WHOLE_LINES, but at least
#: LINES_MIN. Chosen by measurement: more functions for fewer tokens
LESS, LINES_MIN = 2.0, 2
#: lines for all entries together when the request has a limit
COUNTED_LINES = 56
#: two windows of one file with at most so many lines between them are shown with those lines
TOUCHING_LINES = 6
#: cost of another window in the entry of the same file
GOING_ON_BYTES = 20
#: factor of a unit's score: this to the power of its file's rank
LATER = 0.85
#: score for being in the best hit, in addition to words
HIT_WORTH = 0.3
#: score of a unit in the chunk with the best words, and again in the chunk nearest by meaning
SPEAKING = 0.5
#: share of its caller's score that a callee gets, and the number of best units whose callees get
#: it: a callee of the best unit is above FLOOR
CALLED, CALLERS = 0.3, 12
#: score for a line that the question cites
CITED = 4.0
#: share of the best unit's score below which a unit is not shown
FLOOR = 0.3
#: share of common lines from which two windows count as the same text
SAME_SHARE = 0.8
#: factors for units of tests, of documents and examples, of built or copied files, and of change
#: logs, for a question about code
TESTS, DOCUMENTS, COPIES, RECORDS = 0.4, 0.6, 0.3, 0.15
#: file name endings of documents
_DOCUMENTS = (".md", ".rst", ".txt", ".adoc")


@dataclass(frozen=True, slots=True)
class Window:
    """Lines of a file to show, by number."""

    source: Source
    lines: tuple[int, ...]
    symbol: str
    worth: float

    @property
    def bytes(self) -> int:
        """The approximate size of its entry."""
        text = self.source.lines.letters_in(self.lines) + 3 * len(self.lines)
        return ENTRY_BYTES + 2 * len(self.source.path) + len(self.symbol) + text


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen windows. `omitted`: reason → number of good windows left out for it."""

    windows: tuple[Window, ...] = ()
    omitted: dict[str, int] = field(default_factory=dict)


#: path → (first line, last line, number) of each hit in it
Spans = Mapping[str, Sequence[tuple[int, int, float]]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The hits in each file, numbered by rank within the file from 0; and how well each chunk
    matches the question (`speaking`, as in the ranking).
    """

    hits: Spans = field(default_factory=dict)
    speaking: Spans = field(default_factory=dict)

    def hit_bonus(self, source: Source) -> tuple[Array, Array]:
        """(indices of the units that overlap a hit, score of each for it)."""
        inside, place = _units_inside(source, self.hits, np.minimum, math.inf)
        return inside, HIT_WORTH / (1 + 0.3 * place)

    def speaking_bonus(self, source: Source) -> tuple[Array, Array]:
        """(indices of units, score of each for the chunks that it overlaps). Only for units with
        words of the question: one chunk may hold all of a small file.
        """
        inside, best = _units_inside(source, self.speaking, np.maximum, -math.inf)
        return inside, SPEAKING * best


@dataclass(frozen=True, slots=True)
class Candidate:
    """A scored unit, its score in the ranking, and its lines that the question cites."""

    scored: ScoredUnit
    worth: float
    cited: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RankedUnits:
    """The units of the best files that match the question, as columns, best first. The units that
    do not match, mostly nearly all, are looked up only when room is left.
    """

    file_scores: Sequence[FileScores]
    #: of each candidate: index of its file in `file_scores`, index of its unit there, score
    files: Sequence[int]
    units: Sequence[int]
    worth: Sequence[float]
    #: of each file the lines that the question cites
    cited: Sequence[Sequence[int]] = ()

    def candidates(
        self, wanted: Callable[[str, float], bool] = lambda _path, _worth: True
    ) -> Iterator[Candidate]:
        """The candidates for which `wanted`(path, score) is true when their turn comes."""
        for place, at, worth in zip(self.files, self.units, self.worth, strict=True):
            scores = self.file_scores[place]
            if wanted(scores.source.path, worth):
                scored, lines = scores.unit_at(at), self.cited[place]
                cited = (
                    [line for line in lines if scored.unit.start <= line <= scored.unit.end] if lines else ()
                )
                yield Candidate(scored, worth, tuple(cited))

    def remaining(self, wanted: Callable[[str], bool]) -> Iterator[Candidate]:
        """The units without a match, of files that `wanted` accepts when their turn comes."""
        for place, scores in enumerate(self.file_scores):
            source = scores.source
            if not wanted(source.path):
                continue
            candidate_units = {at for file, at in zip(self.files, self.units, strict=True) if file == place}
            for at, unit in enumerate(source.units):
                if not wanted(source.path):
                    break
                if at not in candidate_units:
                    yield Candidate(ScoredUnit(source, unit), 0.0)

    def best_worth(self) -> float:
        """The best score of a unit that holds no code as the question spells it."""
        literal = [frozenset(scores.literal) for scores in self.file_scores]
        rows = zip(self.files, self.units, self.worth, strict=True)
        return next((worth for place, at, worth in rows if at not in literal[place]), 0.0)


def rank_units(
    question: Question, query: str, sources: Mapping[str, Source], evidence: Evidence, places: Iterable[Place]
) -> RankedUnits:
    """Rank the units of the files `sources` (best first). `places`: cited lines."""
    file_scores = score_units(question, list(sources.values()))
    worth, has_evidence, cited = list[Array](), list[Array](), list[list[int]]()
    for place, scores in enumerate(file_scores):
        path, source = scores.source.path, scores.source
        lines = sorted(
            cited_place.line
            for cited_place in places
            if cited_place.line and _is_cited(path, cited_place.path)
        )
        inside, hit_bonuses = evidence.hit_bonus(source)
        speaking, added = evidence.speaking_bonus(source)
        cited_units = source.units_holding(lines)
        values = scores.worth.copy()
        values[inside] += hit_bonuses
        values[speaking] += np.where(scores.worth[speaking] > 0, added, 0.0)
        values *= LATER**place * _kind_worth(path, query)
        if path.endswith(inline_tests.ENDING) and not asks_for_tests(query):
            some = np.flatnonzero(values).tolist()
            values[[at for at in some if _is_inline_test(source, source.units[at])]] *= TESTS
        values[cited_units] += CITED
        is_candidate = scores.worth > 0
        is_candidate[inside] = is_candidate[cited_units] = True
        worth.append(values)
        has_evidence.append(is_candidate)
        cited.append(lines)
    _add_callees(file_scores, worth, has_evidence)
    return _order_units(file_scores, worth, has_evidence, cited)


def _order_units(
    file_scores: Sequence[FileScores],
    worth: Sequence[Array],
    has_evidence: Sequence[Array],
    cited: Sequence[list[int]],
) -> RankedUnits:
    """Order units by score, best first; equal ones by file, then by line."""
    units = [np.flatnonzero(mask) for mask in has_evidence]
    values = [file_worth[at] for file_worth, at in zip(worth, units, strict=True)]
    every = np.concatenate([*values, np.zeros(0)])
    order = np.argsort(-every, kind="stable")
    files = np.repeat(np.arange(len(units)), [len(at) for at in units])
    numbers = np.concatenate([*units, np.zeros(0, np.int64)])
    return RankedUnits(
        file_scores, files[order].tolist(), numbers[order].tolist(), every[order].tolist(), cited
    )


def _units_inside(source: Source, spans: Spans, best: np.ufunc, least: float) -> tuple[Array, Array]:
    """(i64: indices of the units that overlap `spans`, ascending; f64: of each the best number of
    those spans, by `best`). `least` is worse than any number.
    """
    if not (file_spans := spans.get(source.path)):
        return np.zeros(0, np.int64), np.zeros(0)
    first, last = source.spans
    starts, ends, values = (np.array(column)[:, None] for column in zip(*file_spans, strict=True))
    inside = (first <= ends) & (starts <= last)
    units = np.flatnonzero(inside.any(axis=0))
    return units, best.reduce(np.where(inside[:, units], values, least), axis=0)


def _add_callees(
    file_scores: Sequence[FileScores], worth: Sequence[Array], has_evidence: Sequence[Array]
) -> None:
    """Raise the scores of units that one of the best candidates calls."""
    gains: dict[tuple[int, int], float] = {}
    best = _order_units(file_scores, worth, has_evidence, [[] for _ in file_scores])
    callers = list(islice(best.candidates(), CALLERS))
    sources = [scores.source for scores in file_scores]
    places = {id(source): place for place, source in enumerate(sources)}
    for caller, source, at in find_callees([caller.scored for caller in callers], sources):
        where = places[id(source)], at
        gains[where] = max(gains.get(where, 0.0), CALLED * callers[caller].worth)
    for (place, at), gain in gains.items():
        worth[place][at] += gain  # starts from 0 where it was no candidate
        has_evidence[place][at] = True


def drop_repeats(paths: Sequence[str], query: str) -> tuple[list[str], dict[str, int]]:
    """(the files worth showing, in order; reason → number of files left out). Change logs stay only
    when the question is about them; of a page and its translations the English one stays. If all
    are change logs, or all one page, the best stays.
    """
    omitted: dict[str, int] = {}
    remaining = list(paths)
    if not asks_for_records(query):
        remaining = [path for path in paths if not is_record(path)] or list(paths[:1])
        omitted["records"] = len(paths) - len(remaining)
    pages: dict[str, str] = {}
    for path in remaining:
        page, english = page_of(path)
        if page not in pages or (english and not page_of(pages[page])[1]):
            pages[page] = path
    unique = [path for path in remaining if path in pages.values()]
    omitted["translations"] = len(remaining) - len(unique)
    return unique, {why: count for why, count in omitted.items() if count}


def _is_cited(path: str, cited: str) -> bool:
    """Whether one path ends with the other."""
    short, long = sorted(
        (path.split("/"), [component for component in cited.split("/") if component not in ("", ".")]),
        key=len,
    )
    return bool(short) and long[-len(short) :] == short


def _kind_worth(path: str, query: str) -> float:
    name = path.rpartition("/")[2].lower()
    if is_test(path):
        return 1.0 if asks_for_tests(query) else TESTS
    if is_built(path) or is_foreign(path):
        return COPIES
    if is_record(path):
        return 1.0 if asks_for_records(query) else RECORDS
    return DOCUMENTS if name.endswith(_DOCUMENTS) or is_example(path) else 1.0


def _is_inline_test(source: Source, unit: Unit) -> bool:
    """Whether a unit is a test inside of a file of shipped code."""
    if is_test(source.path):
        return False
    return inline_tests.is_in_tests(source.path, unit.symbol) or any(
        inline_tests.marks_test(source.path, source.lines[number])
        for number in range(unit.start, unit.head + 1)
    )


def _make_window(
    question: Question, candidate: Candidate, max_bytes: int, line_budget: int, max_lines: int
) -> Window:
    """Choose the lines of a unit to show: all if they are at most `line_budget`, else the signature
    and the `line_budget` best, and, while there are fewer than `max_lines`, others with a score.
    If they exceed `max_bytes`: the signature alone, or, with `max_lines`, as many as fit (0: the
    request has no limit).
    """
    scored, unit = candidate.scored, candidate.scored.unit
    numbers = range(unit.start, unit.end + 1)
    window = Window(scored.source, tuple(numbers), unit.symbol, candidate.worth)
    if len(numbers) <= line_budget and window.bytes <= max_bytes:
        return window
    signature = scored.source.signature(unit) if unit.symbol else ()
    values = _line_values(question, candidate)
    best = sorted(numbers, key=lambda number: -values[number])
    best = [*best[:line_budget], *(number for number in best[line_budget:max_lines] if values[number] > 0)]
    while True:
        window = replace(window, lines=tuple(fill_short_gaps({*signature, *best})) or tuple(numbers[:1]))
        if window.bytes <= max_bytes or not best:
            return window
        best = best[:-1] if max_lines else []


def _line_budget(worth: float, best: float) -> int:
    """The line budget of a unit with the score `worth`, where the best one has the score `best`."""
    share = min(1.0, worth / best) if best > 0 else 1.0
    return max(LINES_MIN, round(WHOLE_LINES * math.pow(share, LESS)))


def _line_values(question: Question, candidate: Candidate) -> dict[int, float]:
    scored, unit = candidate.scored, candidate.scored.unit
    numbers = range(unit.start, unit.end + 1)
    total = question.worth(question.weights) or 1.0
    words = {number: question.line_worth(terms, total) for number, terms in scored.lines().items()}
    for number in scored.literal:
        words[number] = words.get(number, 0.0) + LITERAL
    lines = dict(zip(numbers, scored.source.lines.between(unit.start, unit.end).split("\n"), strict=False))
    return weigh_lines(lines, words, dict.fromkeys(candidate.cited, CITED))


def choose_windows(
    question: Question, compared: RankedUnits, sure: Sequence[str], request: Show
) -> Selection:
    """Choose the best windows that fit, with room for one line of each file of `sure`."""
    windows: list[Window] = []
    texts: list[frozenset[str]] = []
    omitted: dict[str, int] = {}
    room = {path: _overhead_bytes(path) + 80 for path in sure}
    left = request.max_bytes - max(0, request.limit - len(sure)) * ENTRY_BYTES
    left = max(left, request.max_bytes // 3)
    max_lines = _max_lines(question, compared, request.limit)

    def free(path: str) -> int:
        return left - sum(room.values()) + room.get(path, 0)

    # Units with code as the question spells it come first, and do not lower the scores of others.
    best = compared.best_worth()
    good = compared.candidates(
        lambda path, worth: (worth >= FLOOR * best or path in room) and free(path) >= _overhead_bytes(path)
    )
    for candidate in chain(good, compared.remaining(lambda path: best <= 0 or path in room)):
        path = candidate.scored.source.path
        if free(path) < _overhead_bytes(path):
            continue
        goes_on = not max_lines and any(earlier.source is candidate.scored.source for earlier in windows)
        shared = _overhead_bytes(path) - GOING_ON_BYTES if goes_on else 0
        line_budget = WHOLE_LINES if max_lines else _line_budget(candidate.worth, best)
        window = _make_window(question, candidate, free(path) + shared, line_budget, max_lines)
        text = _distinct_lines(window)
        if not request.chosen and any(_is_same_text(text, other) for other in texts):
            omitted["same text"] = omitted.get("same text", 0) + 1
            continue
        if window.bytes > free(path) + shared:
            continue
        left -= window.bytes - shared
        room.pop(path, None)
        windows.append(window)
        texts.append(text)
    return Selection(tuple(_merge_entries(question, windows, request.limit)), omitted)


def _max_lines(question: Question, compared: RankedUnits, limit: int) -> int:
    """The most lines of one unit: more when few entries are requested; 0 without a limit."""
    if not limit:
        return 0
    units = zip(compared.files, compared.units, strict=True)
    named_count = sum(
        _is_named(question, compared.file_scores[place].source.units[at].symbol) for place, at in units
    )
    return max(WHOLE_LINES, COUNTED_LINES // max(limit, named_count))


def _is_named(question: Question, symbol: str) -> bool:
    return symbol.rpartition(".")[2].lower() in question.names


def _merge_entries(question: Question, windows: Sequence[Window], limit: int) -> list[Window]:
    """Merge windows: without a limit into one per file, which names its path once; else those that
    touch, at most `limit`.
    """
    if not limit:
        return _merge_windows(windows, math.inf)
    return _limit_windows(question, _merge_windows(windows, TOUCHING_LINES), limit)


def _limit_windows(question: Question, windows: Sequence[Window], limit: int) -> list[Window]:
    """The first `limit` windows; later ones with a name of the question join one of their file."""
    merged = list(windows[:limit])
    for window in windows[limit:]:
        at = next((at for at, earlier in enumerate(merged) if earlier.source is window.source), -1)
        if at >= 0 and _is_named(question, window.symbol):
            lines = tuple(sorted({*merged[at].lines, *window.lines}))
            merged[at] = replace(merged[at], lines=lines)
    return merged


def _overhead_bytes(path: str) -> int:
    """The approximate size of an entry without its text."""
    return ENTRY_BYTES + 2 * len(path)


def _distinct_lines(window: Window) -> frozenset[str]:
    lines = window.source.lines
    return frozenset(filter(None, (lines[number].strip() for number in window.lines)))


def _is_same_text(lines: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two windows with these lines count as the same text."""
    few, many = sorted((len(lines), len(other)))
    return (
        len(lines) > 1 and few >= SAME_SHARE * many and len(lines & other) >= SAME_SHARE * len(lines | other)
    )


def _merge_windows(windows: Iterable[Window], max_gap: float) -> list[Window]:
    """Merge windows of one file with at most `max_gap` lines between them, under the symbol of the
    better one. Up to TOUCHING_LINES lines between them are included.
    """
    out: list[Window] = []
    for window in sorted(windows, key=lambda entry: (entry.source.path, entry.lines[0])):
        last = out[-1] if out and out[-1].source is window.source else None
        gap = window.lines[0] - last.lines[-1] if last else 0
        if last and gap <= max_gap:
            between = range(last.lines[-1] + 1, window.lines[0]) if gap <= TOUCHING_LINES else ()
            better = max(last, window, key=lambda entry: entry.worth)
            lines = tuple(sorted({*last.lines, *between, *window.lines}))
            out[-1] = replace(better, lines=lines)
        else:
            out.append(window)
    return sorted(out, key=lambda entry: -entry.worth)
