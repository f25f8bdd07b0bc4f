"""The lines that match a keyword query, in the order of an answer, grouped: complete matches first,
then by kind; tests after code, built files last. Pure.

A word may be in thousands of lines, but few are shown: all are sorted as arrays, and only the shown
ones become objects.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import orjson
from msgspec import structs

from cortex.engines.text.matches.kinds import KINDS, NUMBERS, Kind
from cortex.engines.text.matches.line_coverage import LOOSE, NOTHING, PARTIAL
from cortex.engines.text.matches.line_matches import Body, Marked
from cortex.system.arrays import Array
from cortex.terms.budget import Budget
from cortex.terms.languages import language_of
from cortex.terms.paths import is_built, is_unshipped
from cortex.terms.text.copies import find_copies, may_be_copy
from ipc.messages import ExactHits, Hit

#: chunks whose lines are counted. For a query with more, the lines of so many of the best are
#: shown: more than anybody pages through
CHUNKS_MAX, BEST_CHUNKS = 2_000, 400
#: bytes of an entry without its lines and its path, which is written twice
ENTRY_BYTES = 130
#: the same for an answer as text, beside the path
TEXT_ENTRY_BYTES = 3

#: files from which on a line common to all of them is shown once
ALIKE_FILES = 3
#: lines compared with each other: more than an answer ever holds
ALIKE_LINES_MAX = 2_000
#: note after a line that represents others, with their number; characters of their places
LIKE_IT, LIKE_IT_CHARS = "  ⋯ {} lines like it", 120
#: lines shown that match a part of the query, when others match all of it
PART_SHOWN = 8
#: lines of one test, data file or document from which on only the first few are shown
CROWD_LINES, CROWD_SHOWN = 9, 5
#: note after the last of them, with the number of the others
CROWDED = "  ⋯ {} more lines of this file"


@dataclass(frozen=True, slots=True)
class Group:
    """Lines of one kind in one file, in order: (number, 0 for a line that is not in the file;
    text).
    """

    kind: Kind
    hit: Hit
    score: float
    lines: tuple[tuple[int, str], ...]
    #: sort key before the score
    place: tuple[int, ...] = ()

    def chunk(self) -> bytes:
        """The JSON of the entry: each line with its number, if it has one."""
        text = "\n".join(f"{number}: {line}" if number else line for number, line in self.lines)
        numbers = [number for number, _ in self.lines if number]
        metadata = {
            "file_path": self.hit.file,
            "start_line": numbers[0] if numbers else self.hit.start_line,
            "end_line": numbers[-1] if numbers else self.hit.end_line,
            "kind": self.kind,
        }
        return orjson.dumps({"id": self.hit.id, "text": text, "metadata": metadata})


@dataclass(frozen=True, slots=True)
class LineOrder:
    """Marked lines in the order of an answer, by index. `like`: lines of other files that are left
    out because an equal one is shown; `crowd`: number of lines of its file left out after a line;
    `parts`: number of partial matches left out.
    """

    places: Sequence[int]
    kinds: Array  #: i64 [marked]
    best: Array  #: f64 [marked]: the best score of the line's kind in its file
    classes: Array  #: i64 [4, marked]: sort keys before scores
    like: Mapping[int, Sequence[int]] = field(default_factory=dict)
    crowd: Mapping[int, int] = field(default_factory=dict)
    parts: int = 0
    #: line → the lines of files like its own that are left out, and the note on them
    copies: Mapping[int, tuple[Sequence[int], str]] = field(default_factory=dict)

    def omitted(self, which: slice) -> dict[str, int]:
        """Reason → number of lines left out next to those of a page."""
        page = self.places[which]
        alike = sum(len(self.like.get(at, ())) for at in page)
        crowded = sum(self.crowd.get(at, 0) for at in page)
        counts = {"alike": alike, "same file": crowded, "a part": self.parts}
        return {name: count for name, count in counts.items() if count}


def put_in_order(
    body: Body, marked: Marked, kinds: Array, missing: Array, levels: Array | None = None
) -> LineOrder:
    """Sort the lines: built files last; then the complete matches first (`missing`: i64 [marked]);
    then the more literal ones (`levels`: i64 [marked], line_coverage.py); then by kind; shipped
    files before others; then by the best score in a file.
    """
    if levels is not None:
        missing = (LOOSE + 1) * missing + levels
    file = body.file_ranks[marked.chunks]
    are_secondary = [
        hit.chunk_type == "documentation" or is_unshipped(path)
        for hit, path in zip(body.hits, body.files, strict=True)
    ]
    secondary = np.array(are_secondary, bool)[marked.chunks]
    score = np.array(body.scores, np.float64)[marked.chunks]
    of_group = kinds * len(body.hits) + file
    best = np.zeros(len(KINDS) * len(body.hits))
    np.maximum.at(best, of_group, score)
    built = _built_lines(body, marked, kinds)
    places = np.lexsort((marked.numbers, file, -best[of_group], secondary, kinds, missing, built)).tolist()
    classes = np.array([built, missing, kinds, secondary], np.int64)
    return LineOrder(places, kinds, best[of_group], classes)


def built_lines(body: Body, marked: Marked) -> Array:
    """Bool [marked]: lines of built files."""
    return np.array(list(map(is_built, body.files)), bool)[marked.chunks]


def _built_lines(body: Body, marked: Marked, kinds: Array) -> Array:
    """Bool [marked]: lines of built files. All False when only built files define a match: then
    their folder holds sources in spite of its name.
    """
    built = built_lines(body, marked)
    defines = kinds == NUMBERS["definition"]
    if (defines & built).any() and not (defines & ~built).any():
        return np.zeros(len(marked), bool)
    return built


def drop_partial(order: LineOrder, missing: Array, shown: int = PART_SHOWN) -> LineOrder:
    """Keep only the first `shown` partial matches when there are complete ones, and no line without
    any.
    """
    levels = missing.tolist()
    parts = [at for at in order.places if levels[at] == PARTIAL]
    nothing = [at for at in order.places if levels[at] == NOTHING]
    if len(parts) + len(nothing) == len(order.places):
        return order
    left_out = {*parts[shown:], *nothing}
    return replace(order, places=[at for at in order.places if at not in left_out], parts=len(left_out))


def drop_alike(body: Body, marked: Marked, order: LineOrder) -> LineOrder:
    """Keep one of equal lines of one kind when several files have them. Of definitions only the
    copies in built files are dropped.
    """
    looked_at = order.places[:ALIKE_LINES_MAX]
    same_lines: dict[tuple[int, str], list[int]] = {}
    for at, kind in zip(looked_at, order.kinds[looked_at].tolist(), strict=True):
        same_lines.setdefault((kind, marked.texts[at]), []).append(at)
    chunks = marked.chunks.tolist()
    left_out: set[int] = set()
    like: dict[int, Sequence[int]] = {}
    for (kind, _), alike in same_lines.items():
        files = [body.hits[chunks[at]].path for at in alike] if len(alike) >= ALIKE_FILES else ()
        if len(set(files)) >= ALIKE_FILES:
            copies = kind != NUMBERS["definition"]
            others = [at for at, file in zip(alike[1:], files[1:], strict=True) if copies or is_built(file)]
            left_out.update(others)
            like |= {alike[0]: others} if others else {}
    return replace(order, places=[at for at in order.places if at not in left_out], like=like)


def drop_copies(body: Body, marked: Marked, order: LineOrder) -> LineOrder:
    """Keep one of the lines that data files with almost the same path have in common, up to the end
    of the match.
    """
    kinds, chunks = order.kinds.tolist(), marked.chunks.tolist()
    paths = [hit.path if may_be_copy(hit.path) else "" for hit in body.hits]
    places = [at for at in order.places if paths[chunks[at]]]
    texts = [body.text[marked.begins[at] : marked.ends[at]].strip() for at in places]
    copies = find_copies(
        (at, paths[chunks[at]], (kinds[at], text)) for at, text in zip(places, texts, strict=True)
    )
    left_out = {at for others, _ in copies.values() for at in others}
    return replace(order, places=[at for at in order.places if at not in left_out], copies=copies)


def drop_crowds(body: Body, marked: Marked, order: LineOrder) -> LineOrder:
    """Keep only the first lines of a test, a data file or a document with many."""
    may_have_crowds = [
        hit.chunk_type == "documentation" or language_of(path).kind != "code"
        for hit, path in zip(body.hits, body.files, strict=True)
    ]
    crowd_kind = np.array(may_have_crowds, bool)[marked.chunks]
    may_crowd = (crowd_kind | (order.kinds == NUMBERS["test"])).tolist()
    chunks = marked.chunks.tolist()
    lines: dict[str, list[int]] = defaultdict(list)
    for at in order.places:
        if may_crowd[at]:
            lines[body.hits[chunks[at]].path].append(at)
    left_out: set[int] = set()
    crowd: dict[int, int] = {}
    for file_lines in (file_lines for file_lines in lines.values() if len(file_lines) >= CROWD_LINES):
        left_out.update(file_lines[CROWD_SHOWN:])
        crowd[file_lines[CROWD_SHOWN - 1]] = len(file_lines) - CROWD_SHOWN
    return replace(order, places=[at for at in order.places if at not in left_out], crowd=crowd)


def group_lines(
    body: Body, marked: Marked, order: LineOrder, which: slice, max_bytes: int, *, as_text: bool = False
) -> list[Group]:
    """Group the lines of `order` at `which`, as far as they fit; `as_text`: as text, not as
    JSON.
    """

    def head_bytes(path: str) -> int:
        return len(path) + TEXT_ENTRY_BYTES if as_text else ENTRY_BYTES + 2 * len(path)

    out: list[Group] = []
    budget = Budget(max_bytes)
    for at in order.places[which]:
        kind, hit = KINDS[order.kinds[at]], body.hits[marked.chunks[at]]
        last = out[-1] if out else None
        goes_on = last is not None and (last.kind, last.hit.path) == (kind, hit.path)
        number = int(marked.numbers[at])
        line = marked.texts[at] + _describe_omitted(body, marked, order, at)
        size = len(line) + len(str(number)) + 4 + (0 if goes_on else head_bytes(hit.path))
        if not budget.take(size, sure=last is None):
            break
        if last is not None and goes_on:
            out[-1] = replace(last, lines=(*last.lines, (number, line)))
        else:
            place = tuple(order.classes[:, at].tolist())
            out.append(Group(kind, hit, float(order.best[at]), ((number, line),), place))
    return out


def with_groups(base: ExactHits, groups: Sequence[Group]) -> ExactHits:
    """Return `base` with the groups as its hits."""
    return structs.replace(
        base,
        hits=tuple(group.hit for group in groups),
        scores=tuple(group.score for group in groups),
        highlights=((),) * len(groups),
        highlight_lines=tuple(tuple(number for number, _ in group.lines) for group in groups),
        chunks=tuple(group.chunk() for group in groups),
        classes=tuple(group.place for group in groups),
    )


def _describe_omitted(body: Body, marked: Marked, order: LineOrder, at: int) -> str:
    """The note after a line that represents others: their number, and while it is short their
    places, without copies in built files.
    """
    note = CROWDED.format(order.crowd[at]) if at in order.crowd else ""
    note = order.copies[at][1] + note if at in order.copies else note
    if at not in order.like:
        return note
    folder = body.hits[marked.chunks[at]].path.rpartition("/")[0]
    places = ""
    for other in order.like[at]:
        path = body.hits[marked.chunks[other]].path
        if is_built(path):
            continue
        above, _, name = path.rpartition("/")
        number = f":{marked.numbers[other]}" if marked.numbers[other] else ""
        place = f"{', ' if places else ': '}{name if above == folder else path}{number}"
        if len(places) + len(place) > LIKE_IT_CHARS:
            places += ", …" if places else ""
            break
        places += place
    return LIKE_IT.format(len(order.like[at])) + places + note
