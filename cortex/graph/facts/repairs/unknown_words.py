"""Macros of C++ that no other rule knows, found by the errors of the parser.

A word in capitals that stands where no type, name or value can is a macro of another file: an
annotation, an export, a directive for a compiler. The parser reports an error in its line or the
next one. A word is replaced by blanks if the error then goes; so are its other uses in such places.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from tree_sitter import Node

from cortex.graph.facts.repairs.macros import is_in_class
from cortex.terms.code.headers import NO_CODE

#: parses of a file in search of such words, and candidates of a line
ROUNDS_MAX, TRIALS_MAX = 4, 3
#: first and last lines of errors of a file in which words are sought
ERRORS_MAX = 4000
#: calls of macros without a semicolon that stay calls, those outside of classes
STATEMENTS_MAX = 200
#: characters of a macro's arguments, and before a word
ARGUMENTS_MAX, BEFORE_MAX = 400, 200

_WORD = re.compile(r"(?<![\w.])[A-Z][A-Z0-9_]{2,}\b(?!\s*::)")
#: such a word as a type or value, not the one of `void (FAST *load)(int size)`; as the type of a
#: parameter
_USED = re.compile(
    r"(?<![\w.])([A-Z][A-Z0-9_]{2,})\b(?!\s*\*\s*\w+\s*\)\s*\()"
    r"(?=\s*(?:[*&>.,)<+/|?%\]^!]|::|==|-(?!>)))"
)
_PARAMETER = re.compile(r"[(,]\s*([A-Z][A-Z0-9_]{2,})\s+\w+(?=\s*[,)=\[])")
_DIRECTIVE = re.compile(r"(?m)^[ \t]*#(?:[^\n\\]|\\.|\\\n)*")
_NO_NEWLINE = re.compile(r"[^\n]")
_BRACKET = re.compile(r"[()]")
#: the text that may follow a macro before a declaration, and behind one
_DECLARES = re.compile(r"\s*(?:[A-Za-z_~]|\[\[)")
_ENDS = re.compile(r"\s*(?:[;{]|=(?!=)|->|\Z)")
_CLOSES, _LINE_END = re.compile(r"\s*(?:\}|\Z)"), re.compile(r"[ \t]*(?:\n|\Z)")
_ARGUMENTS_OPEN = re.compile(r"[ \t]*\(")
#: the text before an annotation behind parameters, and before a value
_BEHIND = re.compile(r"(?:\)|\b(?:const|noexcept|override|final))\Z")
_VALUE_BEFORE = re.compile(
    r"(?:[=.,(<!&|+\-*/%?]|::|\b(?:return|case|goto|new|delete|throw|sizeof|typename))\Z"
)
#: that between a pointer and a name, `void *FAST load(int size)`
_POINTER, _NAMED = re.compile(r"[\w>*&]\s*[*&]\Z"), re.compile(r"\s+[A-Za-z_]\w*\s*\(")
#: a calling convention, which stands behind a type, `BOOL WINAPI load()`
_CONVENTION = re.compile(r"(?:CALL|CDECL|API)\Z")
#: the end of a statement or its begin
_STATEMENT = re.compile(r"(?:[;{}:]|\A)\Z")
_CALL = re.compile(r"\w\s*\(")
#: syntax that the grammar lacks: pointers as defaults of type parameters, commas between
#: expressions in `decltype(load(disk), int())`
_DEFAULT = re.compile(
    r"((?:class|typename)(?:\s+\w+)?\s*=\s*)((?:const\b)?)(\s*[\w:]+(?:<[^<>;(){}]*>)?)((?:\s*(?:const\b|[*&]))*)(?=\s*[,>])"
)

_DECLTYPE, _SIGN = re.compile(r"\bdecltype\s*\("), re.compile(r"[()\[\]{}<,]|(?<!-)>")

Parse = Callable[[str], Node]


class _Candidate(NamedTuple):
    """A word with its arguments, its line, from 0, and the text in its place before blanks."""

    name: str
    start: int
    end: int
    text: str = ""
    row: int = 0
    is_statement: bool = False


class _Errors(NamedTuple):
    """The first and last lines of all errors, from 0, sorted, and a measure of all."""

    rows: list[int]
    total: int


def blank_unknown_words(text: str, root: Node, parse: Parse) -> str:
    """Return C++ with such words as blanks and the same lines and columns; the text itself if its
    parse, `root`, does not improve. `parse` returns the root of other text.
    """
    errors = _errors_of(root)
    if not errors.rows or len(errors.rows) > ERRORS_MAX:
        return text
    first = _DEFAULT.sub(_plain_default, _without_commas(text))
    best, best_errors = text, errors
    if first != text and (trial := _errors_of(parse(first))).total < errors.total:
        best, best_errors = first, trial
    lines = text.split("\n")
    if not any(
        _WORD.search(lines[row])
        for error in set(best_errors.rows)
        for row in (error, error - 1)
        if row < len(lines)
    ):
        return best
    code = _DIRECTIVE.sub(_blank, NO_CODE.sub(_blank, best))
    by_row = _candidates(code)
    names = set[str]()
    rejected, joint = set[_Candidate](), set[int]()
    for _ in range(ROUNDS_MAX):
        tried = _choose(best_errors.rows, by_row, rejected, joint)
        if not tried:
            break
        other = _without(best, tried)
        others = _errors_of(parse(other))
        right = [each for each in tried if _is_better(best_errors.rows, others.rows, code, each)]
        rejected.update(set(tried).difference(right))
        if not right:
            continue
        names.update(each.name for each in right)
        every = [each for row in by_row.values() for each in row if each.name in names]
        other = _without(best, every)
        others = _errors_of(parse(other))
        if others.total >= best_errors.total:
            rejected.update(right)
            names.difference_update(each.name for each in right)
            continue
        best, best_errors = other, others
        rejected.difference_update(each for each in tried if each.is_statement)  # beside errors that went
        by_row = {row: [each for each in listed if each.name not in names] for row, listed in by_row.items()}
    return best


def _blank(match: re.Match[str]) -> str:
    return _NO_NEWLINE.sub(" ", match[0])


def _without_commas(text: str) -> str:
    """Return C++ with `=` in place of the commas behind calls in `decltype(load(disk), int())`: no
    operator of a project.
    """
    parts, done = list[str](), 0
    for match in _DECLTYPE.finditer(text):
        depth, angles = 0, 0
        for sign in _SIGN.finditer(text, match.end() - 1, match.end() + ARGUMENTS_MAX):
            if sign[0] in "([{":
                depth += 1
            elif sign[0] in ")]}":
                depth -= 1
                if not depth:
                    break
            elif sign[0] != ",":
                angles += 1 if sign[0] == "<" else -1
            elif depth == 1 and angles <= 0 and sign.start() >= done and text[sign.start() - 1] == ")":
                parts += text[done : sign.start()], "="
                done = sign.end()
    return "".join((*parts, text[done:]))


def _plain_default(match: re.Match[str]) -> str:
    return f"{match[1]}{' ' * len(match[2])}{match[3]}{_NO_NEWLINE.sub(' ', match[4])}"


def _errors_of(root: Node) -> _Errors:
    rows, pending, lines = list[int](), [root], 0
    while pending:
        node = pending.pop()
        if node.is_error or node.is_missing:
            rows.append(node.start_point[0])
            if more := node.end_point[0] - node.start_point[0]:
                rows.append(node.end_point[0])
                lines += more
        if node.has_error:
            pending += node.children
    return _Errors(sorted(rows), len(rows) + lines)


def _candidates(code: str) -> dict[int, list[_Candidate]]:
    """Return the words that may be such macros by line, from 0, in the order of the text."""
    by_row: dict[int, list[_Candidate]] = {}
    used = {*_USED.findall(code), *_PARAMETER.findall(code)}
    row = done = statements = after = 0
    for match in _WORD.finditer(code):
        candidate = _candidate(code, match, after) if match[0] not in used else None
        if candidate is not None:
            row += code.count("\n", done, match.start())
            done = match.start()
            candidate = candidate._replace(row=row)
            if candidate.is_statement:
                after = candidate.end
                statements += 1
                if statements > STATEMENTS_MAX or is_in_class(code, done):
                    candidate = candidate._replace(text="")
            by_row.setdefault(row, []).append(candidate)
    return by_row


def _candidate(code: str, match: re.Match[str], after: int) -> _Candidate | None:
    """Return a word that may be such a macro, with its arguments. `after` is the end of the last
    one that is a statement, 0 for none.
    """
    start, end = match.span()
    before = code[max(0, start - BEFORE_MAX) : start].rstrip()
    if _VALUE_BEFORE.search(before) and not (_POINTER.search(before) and _NAMED.match(code, end)):
        return None
    goes_on = not code[after:start].strip() if after else False
    if not goes_on and before[-1:] == ")" and before[: before.rfind("(")].rstrip().endswith(match[0]):
        return None  # parts of a text, `PART("a") PART("b")`
    is_behind = not goes_on and _BEHIND.search(before) is not None
    arguments = _ARGUMENTS_OPEN.match(code, end)
    if arguments is not None:
        end = _closing(code, arguments.end() - 1) + 1
        if not end or _CALL.search(code, arguments.end(), end - 1):
            return None
    declares = _DECLARES.match(code, end) is not None
    if is_behind and (declares or _ENDS.match(code, end) or (arguments is None and _CLOSES.match(code, end))):
        return _Candidate(match[0], start, end)
    is_statement = (goes_on or _STATEMENT.search(before) is not None) and _LINE_END.match(
        code, end
    ) is not None
    closes = is_statement and _CLOSES.match(code, end) is not None
    if arguments is None:
        return _Candidate(match[0], start, end) if declares or closes else None
    if not declares and not closes:
        return None
    if is_statement and "\n" not in code[start:end]:
        text = _statement(match[0], code[arguments.end() : end - 1])
        return _Candidate(match[0], start, end, text, is_statement=True)
    return _Candidate(match[0], start, end)


def _statement(name: str, arguments: str) -> str:
    """Return a macro's call with as many arguments and a semicolon; "" if that is longer."""
    call = f"{name}({','.join('0' for _ in arguments.split(','))});"
    return call if len(call) <= len(name) + len(arguments) + 2 else ""


def _closing(code: str, at: int) -> int:
    depth = 0
    for bracket in _BRACKET.finditer(code, at, at + ARGUMENTS_MAX):
        depth += 1 if bracket[0] == "(" else -1
        if not depth:
            return bracket.start()
    return -1


def _choose(
    errors: list[int], by_row: dict[int, list[_Candidate]], rejected: set[_Candidate], joint: set[int]
) -> list[_Candidate]:
    """Return the next candidate for each error, in its line or the one above; all of them together,
    once, where none helped alone.
    """
    chosen = dict[_Candidate, None]()
    for row in dict.fromkeys(errors):
        near = [each for line in (row, row - 1) for each in by_row.get(line, ())[:TRIALS_MAX]]
        near.sort(key=lambda each: _CONVENTION.search(each.name) is None)
        if candidate := next((each for each in near if each not in rejected), None):
            chosen[candidate] = None
        elif len(near) > 1 and row not in joint:
            joint.add(row)
            chosen.update(dict.fromkeys(near))
    return list(chosen)


def _without(text: str, candidates: list[_Candidate]) -> str:
    parts, done = list[str](), 0
    for each in sorted(candidates, key=lambda each: each.start):
        if each.start >= done:
            blanks = _NO_NEWLINE.sub(" ", text[each.start : each.end])
            parts += text[done : each.start], each.text, blanks[len(each.text) :]
            done = each.end
    return "".join((*parts, text[done:]))


def _is_better(before: list[int], after: list[int], code: str, candidate: _Candidate) -> bool:
    """Return True if fewer errors, sorted by line, are around a word."""
    first = candidate.row - 1
    end = candidate.row + 2 + code.count("\n", candidate.start, candidate.end)
    near, others = (bisect_left(rows, end) - bisect_left(rows, first) for rows in (after, before))
    return near < others
