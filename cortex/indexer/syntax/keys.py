"""Configuration files → Outline: each top-level block by the pattern of its format. No grammar, no
nesting.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from cortex.indexer.syntax.outline import SIGNATURE_CHARS_MAX, Outline, Span, plain_comment
from cortex.indexer.syntax.source import Source
from cortex.terms.languages import Language
from cortex.terms.records import Symbol

#: most blocks of one file: a longer list is data rather than configuration, and is covered as text
KEYS_MAX = 400

_COMMENT = re.compile(r"\s*(?:#|//|;|--)")


def key_outline(source: Source, language: Language) -> Outline:
    """Return a symbol (constant) for each block, up to the last line before the next's comments."""
    lines = source.lines
    starts = list(_starts(lines, _pattern(language.keys)))
    if len(starts) > KEYS_MAX:
        return Outline()
    comments = tuple(
        Span(number, number, plain_comment(line))
        for number, line in enumerate(lines, 1)
        if _COMMENT.match(line)
    )
    commented = {span.start: span.text for span in comments}
    symbols: list[Symbol] = []
    for (start, name), (after, _) in pairwise([*starts, (len(lines) + 1, "")]):
        end = bound = after - 1
        while end > start and (not lines[end - 1].strip() or (end in commented and bound != len(lines))):
            end -= 1
        above = start - 1
        while above in commented:
            above -= 1
        doc = "\n".join(commented[line] for line in range(above + 1, start) if commented[line])
        text = source.text(start, end)[:SIGNATURE_CHARS_MAX]
        symbols.append(Symbol(name, "constant", "", start, end, text, doc))
    return Outline(symbols=tuple(symbols), comments=comments, attached=comments)


def _starts(lines: Sequence[str], pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield (1-based line, name) of blocks: tables, and keys before the first one."""
    in_table = False
    for number, line in enumerate(lines, 1):
        match = pattern.match(line)
        if match is None or line[:1].isspace():
            continue
        is_table = line.startswith("[")
        if in_table and not is_table:
            continue
        in_table = is_table
        yield number, " ".join(next(filter(None, match.groups()), match[0]).replace('"', "").split())


@functools.cache
def _pattern(keys: str) -> re.Pattern[str]:
    return re.compile(keys)
