"""The cutting of a file's lines into tiles that cover each line exactly once. Pure; independent of
languages.

`costs[i]` is the cost of a cut before line i (0-based). A range that is too long is cut at the
cheapest lines, each piece again likewise, and small neighbours are joined while they fit.
"""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from cortex.indexer.syntax.outline import Outline

#: cost of separating a comment or attribute from its line; less than one level of nesting
GLUE = 0.5
#: cost of a forbidden cut: blank lines stay with the lines before them
NEVER = math.inf
#: tiles under this share of the budget are joined across a level of nesting (a lone closing brace,
#: a class line)
TINY_SHARE = 1 / 12
#: blanks per tab where indentation decides
TAB_BLANKS = 4

CountTokens = Callable[[str], int]


def syntax_costs(lines: Sequence[str], outline: Outline) -> list[float]:
    """Return for each cut how many syntax nodes it crosses, plus GLUE between comment and code."""
    steps = [0] * (len(lines) + 2)
    symbols = [(symbol.start_line, symbol.end_line) for symbol in outline.symbols]
    for start, end in (*((span.start, span.end) for span in outline.splits), *symbols):
        steps[start] += 1  # from the line after the first one, whose 0-based number is `start`
        steps[max(start, min(end, len(lines)))] -= 1
    costs = [float(depth) for depth in accumulate(steps)][: len(lines)]
    for span in outline.attached:
        for line in range(span.start, min(span.end + 1, len(lines))):
            costs[line] += GLUE
    return _forbid_blank_cuts(lines, costs)


def layout_costs(lines: Sequence[str]) -> list[float]:
    """Return the costs without a grammar: indentation is depth, a cut after a blank line is
    cheaper, a closing bracket counts as inside.
    """
    costs: list[float] = []
    after_blank = True
    for line in lines:
        body = line.lstrip()
        depth: float = len(line[: len(line) - len(body)].expandtabs(TAB_BLANKS))
        if body[:1] in ")]}" or body.startswith(("end", "fi", "done", "esac", "else", "</")):
            depth += 1
        costs.append(depth + (0 if after_blank else GLUE))
        after_blank = not body
    return _forbid_blank_cuts(lines, costs)


def _forbid_blank_cuts(lines: Sequence[str], costs: list[float]) -> list[float]:
    return [cost if line and not line.isspace() else NEVER for cost, line in zip(costs, lines, strict=True)]


def tile(tokens: Sequence[int], costs: Sequence[float], budget: int) -> list[tuple[int, int]]:
    """Return half-open, 0-based ranges that cover range(len(tokens)) in order, each of at most
    `budget` tokens where its lines allow it (a longer single line is alone, with the blank lines
    after it).
    """
    if not tokens:
        return []
    return _Tiler([0, *accumulate(tokens)], costs, budget).cut(0, len(tokens))


class _Tiler:
    def __init__(self, sums: Sequence[int], costs: Sequence[float], budget: int) -> None:
        self._sums, self._costs, self._budget = sums, costs, budget
        self._tiny = budget * TINY_SHARE

    def _weight(self, low: int, high: int) -> int:
        return self._sums[high] - self._sums[low]

    def cut(self, low: int, high: int) -> list[tuple[int, int]]:
        if high - low == 1 or self._weight(low, high) <= self._budget:
            return [(low, high)]
        inner = self._costs[low + 1 : high]
        cheapest = min(inner)
        if cheapest == NEVER:
            return [(low, high)]
        bounds = [low, *(low + 1 + at for at, cost in enumerate(inner) if cost == cheapest), high]
        tiles: list[tuple[int, int]] = []
        joinable = False  # whether the last tile is a complete piece of this level
        for start, end in pairwise(bounds):
            fits = self._weight(start, end) <= self._budget
            if fits:
                if not (joinable and self._join(tiles, end)) and not self._join_tiny(tiles, start, end):
                    tiles.append((start, end))
            else:
                first, *remaining = self.cut(start, end)
                if not self._join_tiny(tiles, *first):
                    tiles.append(first)
                tiles.extend(remaining)
            joinable = fits
        return tiles

    def _join(self, tiles: list[tuple[int, int]], end: int) -> bool:
        if not tiles or self._weight(tiles[-1][0], end) > self._budget:
            return False
        tiles[-1] = (tiles[-1][0], end)
        return True

    def _join_tiny(self, tiles: list[tuple[int, int]], start: int, end: int) -> bool:
        if not tiles or min(self._weight(start, end), self._weight(*tiles[-1])) > self._tiny:
            return False
        return self._join(tiles, end)


def split_to_budget(text: str, count_tokens: CountTokens, budget: int) -> list[str]:
    """Return `text` in pieces of at most `budget` tokens: split at line ends, and inside a line
    only when that line alone is too long.
    """
    if count_tokens(text) <= budget:
        return [text]
    pieces: list[str] = []
    weight = 0
    for line in text.split("\n"):
        line_weight = count_tokens(line)
        if pieces and weight + line_weight <= budget:
            pieces[-1] += "\n" + line
            weight += line_weight
        else:
            cuts = _cut_line(line, count_tokens, budget)
            pieces.extend(cuts)
            weight = count_tokens(cuts[-1])
    return pieces


def _cut_line(line: str, count_tokens: CountTokens, budget: int) -> list[str]:
    if count_tokens(line) <= budget or len(line) < 2:
        return [line]
    half = len(line) // 2
    blank = line.rfind(" ", half // 2, half + 1)
    at = blank + 1 if blank > 0 else half
    return [*_cut_line(line[:at], count_tokens, budget), *_cut_line(line[at:], count_tokens, budget)]
