"""Matching lines for a reader of text, such as an agent: each of them with its code, or its number.
Pure.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from msgspec import structs

from cortex.engines.text.matches.line_coverage import EXACT, LOOSE
from cortex.engines.text.matches.line_matches import Body, Marked
from cortex.engines.text.matches.lines import (
    PART_SHOWN,
    LineOrder,
    built_lines,
    drop_alike,
    drop_copies,
    drop_crowds,
    drop_partial,
    group_lines,
    put_in_order,
    with_groups,
)
from cortex.system.arrays import Array
from cortex.terms.budget import Budget
from ipc.messages import ExactHits, ExactSearch

#: part of an answer for numbers of lines, at most: a third
PLACES_PART = 3
#: bytes around a path, and around a number
_PATH_BYTES, _NUMBER_BYTES = 3, 4

#: (path, numbers of its lines)
Places = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class EveryLine:
    """All lines in the order of an answer. The first `distinct` are shown with their code before
    the numbers of the others: copies in built files, and lines like those shown. Lines from
    `named` on hold the query in other words; the answer only counts them.
    """

    order: LineOrder
    distinct: int
    named: int


def order_every_line(
    request: ExactSearch,
    body: Body,
    marked: Marked,
    *,
    kinds: Array,
    missing: Array,
    levels: Array,
    several: bool,
) -> EveryLine:
    """Return the order of the lines; partial matches are left out where others match completely.
    `levels` as `literal_levels` returns them; `several`: the query has several terms.
    """
    order = put_in_order(body, marked, kinds, missing, levels)
    order = drop_partial(order, missing, PART_SHOWN if several else 0)
    if not request.alike:
        return EveryLine(order, len(order.places), len(order.places))
    if not request.filters.paths:
        order = drop_copies(body, marked, order)
    level_of = levels.tolist()
    loose = [at for at in order.places if level_of[at] == LOOSE]
    literal = _without(order.places, loose)
    built = _built_places(body, marked, literal)
    chosen = replace(order, places=_without(literal, built))
    if any(used > request.max_bytes for used in accumulate(_line_sizes(body, marked, chosen.places))):
        exact = [at for at in chosen.places if level_of[at] == EXACT]
        chosen = replace(chosen, places=exact or chosen.places)
        chosen = drop_alike(body, marked, chosen)
        if not request.filters.paths:
            chosen = drop_crowds(body, marked, chosen)
    rest = _without(literal, chosen.places)
    rest.sort(key=level_of.__getitem__)
    places = [*chosen.places, *_by_file(body, marked, rest), *_by_file(body, marked, loose)]
    named = len(places) if several else len(literal)
    return EveryLine(replace(order, places=places), len(chosen.places), named)


def show_every_line(
    request: ExactSearch, base: ExactHits, body: Body, marked: Marked, every: EveryLine
) -> ExactHits:
    """Return `base` with the lines from the request's offset on as far as they fit, and the numbers
    of later lines; without numbers where the request counts its lines.
    """
    order, begin, count = every.order, max(request.offset, 0), len(every.order.places)
    last = next((stop for stop in (every.distinct, every.named) if begin < stop), count)
    named = every.named if begin < every.named else count
    all_places = _number_rest(body, marked, order.places[last:named], request.max_bytes * request.alike)
    room = request.max_bytes - min(request.max_bytes // PLACES_PART, _places_bytes(all_places))
    which = slice(begin, min(begin + request.lines, last))
    groups = group_lines(body, marked, order, which, room, as_text=True)
    end = begin + sum(len(group.lines) for group in groups)
    room = request.max_bytes - sum(_line_sizes(body, marked, order.places[begin:end]))
    places = _number_rest(body, marked, order.places[end:named], room * request.alike)
    left = max(named - end, 0) - sum(len(numbers) for _, numbers in places)
    copies = sum(len(others) for others, _ in order.copies.values())
    omitted = {"copies": copies, "places": left, "other words": count - named, "a part": order.parts}
    return structs.replace(
        with_groups(base, groups),
        total_found=count + copies,
        truncated=base.truncated or left > 0,
        omitted={why: number for why, number in omitted.items() if number > 0},
        places=places,
    )


def _without(places: Iterable[int], others: Iterable[int]) -> list[int]:
    left_out = set(others)
    return [at for at in places if at not in left_out]


def _number_rest(body: Body, marked: Marked, rest: Sequence[int], max_bytes: int) -> Places:
    """Return the numbers of lines by file, as many as fit. Lines that are not in a file have
    none.
    """
    files: dict[str, list[int]] = {}
    budget = Budget(max_bytes)
    for path, number, _ in marked.at(body, _by_file(body, marked, rest)):
        if not number:
            continue
        size = len(str(number)) + _NUMBER_BYTES + (0 if path in files else len(path) + _PATH_BYTES)
        if not budget.take(size):
            break
        files.setdefault(path, []).append(number)
    return tuple((path, tuple(sorted(numbers))) for path, numbers in files.items())


def _by_file(body: Body, marked: Marked, places: Sequence[int]) -> list[int]:
    """Return the lines with those of each file together, in the order of the files' first lines."""
    files = body.file_ranks[marked.chunks[places]]
    _, first, of = np.unique(files, return_index=True, return_inverse=True)
    ordered: list[int] = np.array(places, np.int64)[np.argsort(first[of], kind="stable")].tolist()
    return ordered


def _built_places(body: Body, marked: Marked, places: Sequence[int]) -> set[int]:
    """Return the lines of built files; none if all lines are in such files."""
    built = set(np.array(places, np.int64)[built_lines(body, marked)[places]].tolist())
    return built if len(built) < len(places) else set()


def _line_sizes(body: Body, marked: Marked, places: Sequence[int]) -> Iterator[int]:
    """Yield the size of each of the lines as text, in their order."""
    before = ""
    for path, number, text in marked.at(body, places):
        path_bytes = 0 if path == before else len(path) + _PATH_BYTES
        yield len(text) + len(str(number)) + _NUMBER_BYTES + path_bytes
        before = path


def _places_bytes(places: Places) -> int:
    return sum(
        len(path) + _PATH_BYTES + sum(len(str(number)) + _NUMBER_BYTES for number in numbers)
        for path, numbers in places
    )
