"""Blocks of a definition by the indentation of its lines, where the index has none: its lines have
changed, or an older version indexed them. Pure.

A block is one statement, or neighbouring short ones. A line belongs to the statement above it if it
is indented deeper, closes a bracket, goes on with an `else`, or is inside of brackets or a string.
"""

import re
from collections.abc import Mapping, Sequence

#: first line, last line and depth of a block
Block = tuple[int, int, int]

#: lines of a statement up to which it shares a block with its neighbours, and of such a block
SHORT_LINES, GROUP_LINES = 4, 8
#: lines of a statement from which on the statements inside it are blocks, too; the largest depth
COMPOUND_LINES, DEPTH_MAX = 16, 3
#: lines of a signature, and of one with decorators above it
SIGNATURE_LINES_MAX, DECORATED_LINES_MAX = 30, 300

_GOES_ON = re.compile(
    r"[)\]}>]|case\b.*:(?:\s*\{)?$|when\b(?!.*\{$)|(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure|end|then|do|done|fi|esac)\b|[.&|?:+]|<<|->|=>|\{$|(?!try\b|do\b|begin\b)\w+:$"
)
#: a line that only closes; the end of a line with statements inside
_CLOSING = re.compile(r"[)\]}]+[;,)]*|end|done|fi|esac")
_COMPOUND = re.compile(r"(?::|\bdo|\bthen|\bbegin|\belse|(?<![=(:,\[])\s*\{)\s*(?:#.*|//.*)?$")
#: the end of a line that opens the body of a function inside of a call's brackets
_CLOSURE = re.compile(r"(?:=>|\bfunction\b.*\)|\bfunc\b.*|\|)\s*\{$|\bdo(?:\s*\|.*\|)?$")
#: the head of a table
_TABLE = re.compile(r"\s*\[.*\]\s*$")
_TRIPLE = re.compile(r'"""|\'\'\'')
#: text of a line that holds brackets without a meaning
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|(?<![:\w])#.*|//.*")


def signature_end(lines: Mapping[int, str], head: int) -> int:
    """Return the last line of the signature that begins at `head`, with its brackets closed."""
    depth, last = 0, head
    is_decorated = lines.get(head, "").strip().startswith(("@", "#["))
    for number in range(head, head + (DECORATED_LINES_MAX if is_decorated else SIGNATURE_LINES_MAX)):
        if number not in lines:
            break
        text = lines[number].strip()
        depth += text.count("(") + text.count("[") - text.count(")") - text.count("]")
        last = number
        if depth <= 0 and not text.startswith(("@", "#[")):
            break
    return last + 1 if lines.get(last + 1, "").strip() == "{" else last


#: the begins of comments that no line of code has
_COMMENTS = ("//", "/*", "* ", "*/")
#: annotations before a declaration in its line
_ANNOTATIONS = re.compile(r"^\s*(?:@[\w.:]+(?:\([^()]*\))?\s+)+(?=\S)")


def declaration_at(lines: Mapping[int, str], line: int) -> tuple[int, int]:
    """Return (first, last) of the declaration that a line begins: with the comments above it, and
    the lines with more indentation below.
    """
    first, indentation = line, indentation_of(lines[line])
    last = signature_end({**lines, line: _ANNOTATIONS.sub("", lines[line])}, line)
    while lines.get(first - 1, "").strip().startswith(_COMMENTS):
        first -= 1
    has_body = False
    for number in range(last + 1, max(lines) + 1):
        text = lines[number]
        is_inside = indentation_of(text) > indentation
        closes = has_body and indentation_of(text) == indentation and _is_bracket(text)
        if text.strip() and not is_inside and not closes:
            break
        has_body |= is_inside
        last = number if is_inside or closes else last
        if closes:
            break
    return first, last


def find_blocks(lines: Mapping[int, str], head: int) -> list[Block]:
    """Return the blocks of the definition whose signature begins at the line `head`."""
    end = signature_end(lines, head)
    numbers = [number for number in lines if number > end]
    while numbers and not _is_statement(lines[numbers[-1]]):  # the end of the definition
        numbers.pop()
    return sorted(_blocks_in(lines, numbers, 0), key=lambda block: (block[0], block[2]))


def key_blocks(lines: Mapping[int, str]) -> list[Block]:
    """Return the blocks of data by their indentation alone: keys, entries of lists and tables, each
    with what it holds; those of one line in groups.
    """
    return sorted(_keys_in(lines, list(lines), 0), key=lambda block: (block[0], block[2]))


def statements_around(lines: Mapping[int, str], line: int, window: int, most: int) -> tuple[int, int]:
    """Return (first, last) of the statements within `window` lines of a line, at most `most` lines;
    `lines` has no signature.
    """
    blocks = _blocks_in(lines, list(lines), 0)
    leaves = [
        block
        for block in blocks
        if not any(other[2] > block[2] and block[0] <= other[0] <= block[1] for other in blocks)
    ]
    for reach in (window, window // 2, 0):
        near = [block for block in leaves if block[0] <= line + reach and block[1] >= line - reach]
        first = min((line, *(block[0] for block in near)))
        last = max((line, *(block[1] for block in near)))
        if last - first < most:
            return first, last
    return max(min(lines), line - window), min(max(lines), line + window)


def is_closing(text: str) -> bool:
    """Whether a line only closes what others have opened."""
    return _CLOSING.fullmatch(text.strip()) is not None


def _is_bracket(text: str) -> bool:
    return text.strip() == "{" or is_closing(text)


def _is_statement(text: str) -> bool:
    return bool(text.strip()) and _GOES_ON.match(text.strip()) is None


def _blocks_in(lines: Mapping[int, str], numbers: Sequence[int], depth: int) -> list[Block]:
    starts = _clause_starts(lines, numbers)
    is_clause = len(starts) > 1
    starts = starts if is_clause else _statement_starts(lines, numbers)
    if not starts:
        return []
    ends = [*(start - 1 for start in starts[1:]), numbers[-1]]
    groups: list[list[int]] = []
    blocks: list[Block] = []
    can_grow = False
    for start, end in zip(starts, ends, strict=True):
        last = end
        while last > start and not lines.get(last, "").strip():
            last -= 1
        is_short = last - start < SHORT_LINES
        is_next = can_grow and is_short and start == groups[-1][1] + 1 and not is_clause
        if is_next and last - groups[-1][0] < GROUP_LINES:
            groups[-1][1] = last
        else:
            groups.append([start, last])
        can_grow = is_short
        if last - start + 1 >= COMPOUND_LINES and depth < DEPTH_MAX:
            inside = range(start, last + 1)
            if not (is_clause and start == starts[0]):
                head = _first_code(lines, start)
                head = head if _CLOSURE.search(lines[head]) else signature_end(lines, head)
                inside = range(head + 1, last + 1) if _COMPOUND.search(lines[head]) else range(0)
            blocks += _blocks_in(lines, [number for number in inside if number in lines], depth + 1)
    return blocks + [(first, last, depth) for first, last in groups]


def _keys_in(lines: Mapping[int, str], numbers: Sequence[int], depth: int) -> list[Block]:
    filled = [number for number in numbers if lines[number].strip()]
    keys = [number for number in filled if not (is_closing(lines[number]) or _is_remark(lines[number]))]
    least = min((indentation_of(lines[number]) for number in keys), default=0)
    starts = [number for number in keys if indentation_of(lines[number]) <= least]
    starts = [number for number in starts if _TABLE.match(lines[number])] or starts
    blocks: list[Block] = []
    groups: list[list[int]] = []
    for at, start in enumerate(starts):
        first = filled[0] if at == 0 else start
        while first - 1 in lines and first > numbers[0] and _is_remark(lines[first - 1]):
            first -= 1
        behind = starts[at + 1] if at + 1 < len(starts) else numbers[-1] + 1
        last = max(number for number in filled if number < behind)
        while last > start and _is_remark(lines[last]) and at + 1 < len(starts):
            last -= 1
        if groups and first == last == groups[-1][1] + 1 and last - groups[-1][0] < GROUP_LINES:
            groups[-1][1] = last
        else:
            groups.append([first, last])
        if last - first + 1 >= COMPOUND_LINES and depth < DEPTH_MAX:
            blocks += _keys_in(lines, [number for number in numbers if start < number <= last], depth + 1)
    return blocks + [(first, last, depth) for first, last in groups]


def _first_code(lines: Mapping[int, str], start: int) -> int:
    """Return the first line from `start` on that is no comment."""
    while start + 1 in lines and _is_remark(lines[start]):
        start += 1
    return start


def _clause_starts(lines: Mapping[int, str], numbers: Sequence[int]) -> list[int]:
    """Return the first line, and the lines with less indentation that go on, as `else:`."""
    filled = [number for number in numbers if lines[number].strip()]
    least = _least_indentation(lines, filled)
    clauses = [
        number
        for number in filled
        if indentation_of(lines[number]) < least and not _is_bracket(lines[number])
    ]
    return [filled[0], *clauses] if filled and clauses and clauses[0] != filled[0] else clauses


def _least_indentation(lines: Mapping[int, str], filled: Sequence[int]) -> int:
    return min(
        (indentation_of(lines[number]) for number in filled if _is_statement(lines[number])), default=0
    )


def _statement_starts(lines: Mapping[int, str], numbers: Sequence[int]) -> list[int]:
    """Return the lines of least indentation at which a statement begins."""
    filled = [number for number in numbers if lines[number].strip()]
    inside = _lines_inside(lines, filled)
    least = _least_indentation(lines, filled)
    starts: list[int] = []
    remark = 0
    for number in filled:
        text = lines[number]
        begins = number not in inside and indentation_of(text) <= least and _is_statement(text)
        if begins and _is_remark(text):
            remark = remark or number
        else:
            starts += [remark or number] if begins else []
            remark = 0
    return [filled[0], *starts[1:]] if starts else []


def _lines_inside(lines: Mapping[int, str], filled: Sequence[int]) -> set[int]:
    """Return the lines that begin inside of brackets or of a string; none where one is not closed,
    because it is no bracket or quote of the language then.
    """
    inside: set[int] = set()
    brackets, quote = 0, ""
    for number in filled:
        if brackets or quote:
            inside.add(number)
        before, bare = quote, _QUOTED.sub("", lines[number])
        quote = _open_quote(lines[number], bare, quote)
        if not (before or quote):
            brackets = max(0, brackets + sum(map(bare.count, "([")) - sum(map(bare.count, ")]")))
    return set() if brackets or quote else inside


def _is_remark(text: str) -> bool:
    """Whether a line is a comment, a decorator or an attribute: it belongs to the line below."""
    return text.strip().startswith(("#", "//", "@", "--", ";;", "*", "/*"))


def _open_quote(text: str, bare: str, quote: str) -> str:
    """Return the mark of the string of several lines that is open after a line; "" for none.
    `bare`: the line without its strings and comments.
    """
    for match in _TRIPLE.finditer(text):
        if not quote:
            quote = match[0]
        elif quote == match[0]:
            quote = ""
    if bare.count("`") % 2 and quote in ("", "`"):
        quote = "" if quote else "`"
    return quote


def indentation_of(text: str) -> int:
    """Return the columns before the first letter of a line."""
    before = text[: len(text) - len(text.lstrip())]
    return len(before.expandtabs(4))
