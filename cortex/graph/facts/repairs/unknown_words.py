"""Macros of C and C++ that no other rule knows, found by the errors of the parser.

A word in capitals, or one as `__init`, that stands where no type, name or value can is a macro of
another file: an annotation, an export, a directive for a compiler. The parser reports an error in
its line or the next one. A word is replaced by blanks in all such places if errors then go.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
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
#: characters of a macro's arguments, before a word, and there of a keyword with the one before it,
#: and of an annotation behind a keyword
ARGUMENTS_MAX, BEFORE_MAX, KEYWORD_MAX, BEHIND_MAX = 400, 200, 12, 60

#: it begins with a letter so that a search skips all others
_WORD = re.compile(
    r"(?:[A-Z](?<![\w.].)[A-Z0-9_]{2,}|_(?<![\w.].)(?:_(?!attribute|declspec|typeof|asm|extension)[a-z]\w+|_?[A-Z][A-Z0-9_]{2,}))\b"
)
#: behind such a word as a type or value, not the one of `void (FAST *load)(int size)`; around one
#: as the type of a parameter
_USED = re.compile(r"(?!\s*\*\s*\w+\s*\)\s*\()(?:::|\s*(?:[*&>.,)<+|?%\]^!]|/(?![/*])|==|-(?!>)))")
_PARAMETER_BEFORE, _PARAMETER = re.compile(r"[(,]\s*\Z"), re.compile(r"\s+\w+\s*[,)=\[]")
_DIRECTIVE = re.compile(r"(?m)^[ \t]*#(?:[^\n\\]|\\.|\\\n)*")
_NEWLINE, _NO_NEWLINE = re.compile(r"\n"), re.compile(r"[^\n]")
_BRACKET = re.compile(r"[()]")
#: the text that may follow a macro before a declaration, and behind one
_DECLARES = re.compile(r"\s*(?:[A-Za-z_~]|\[\[|::\w)")
_ENDS = re.compile(r"\s*(?:[;{]|:(?!:)|=(?!=)|->|\Z)")
_CLOSES, _LINE_END = re.compile(r"\s*(?:\}|\Z)"), re.compile(r"[ \t]*(?:\n|\Z)")
_ARGUMENTS_OPEN = re.compile(r"[ \t]*\(")
#: the text before an annotation behind parameters, behind a variable, and before a value
_BEHIND = re.compile(r"(?:\)|\b(?:const|noexcept|override|final))(?:\s+[A-Z][A-Z0-9_]{2,})?\Z")
_VARIABLE_BEFORE = re.compile(  # `int size GUARDED_BY(lock);`, not `FAST void __load(int size);`
    r"(?:[\w>]\s+|[*&]\s*)(?!(?:void|bool|char|short|int|long|float|double|unsigned|signed|auto)\b)\w+(?:\[\w*\])?\Z"
)
_BODY = re.compile(r"\s*\{")
#: the text before a word behind the name of a class or name space, `class Disk LAST : Base {`
_SPACE_BEFORE = re.compile(r"\bnamespace\s+\w+\Z")
_CLASS_BEFORE = re.compile(r"\b(?:class|struct)(?:\s+[A-Z][A-Z0-9_]*)?\s+[A-Za-z]\w*\Z")
_BASES = re.compile(r"\s*(?::(?!:)|\{)")
_VALUE_BEFORE = re.compile(
    r"(?:[=.,(<!&|+\-*/%?]|::|\b(?:return|case|goto|new|delete|throw|sizeof|typename))\Z"
)
#: that between a pointer and a name, `void *FAST load(int size)`
_POINTER, _NAMED = re.compile(r"[\w>*&]\s*[*&]\Z"), re.compile(r"(?:\([^()]*\))?\s+[A-Za-z_]\w*\s*\(")
#: the begin of a type behind a word that so is no value, `(FAST const int *)text`
_QUALIFIED = re.compile(r"\s+(?:const|volatile|unsigned|signed|struct)\b")
#: a result as the argument of a macro, `static SHOP_API(int) note(`
_RESULT_BEFORE = re.compile(r"\b(?:static|extern|inline|const|constexpr)\Z")
_RESULT = re.compile(r"\(([A-Za-z_][^,()]*)\)(?=\s+\w+\s*\()")
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
    best, errors = text, _errors_of(root)
    if not errors.rows or len(errors.rows) > ERRORS_MAX:
        return text
    first = _without_commas(text) if "decltype" in text else text
    first = _DEFAULT.sub(_plain_default, first) if "template" in text else first
    if first != text and (others := _errors_of(parse(first))).total < errors.total:
        best, errors = first, others
    if all(
        _is_used(best, match) or (_is_within_line(best, match.start()) and _is_value(best, match))
        for match in _words_near(best, errors.rows)
    ):
        return best
    code = _DIRECTIVE.sub(_blank, NO_CODE.sub(_blank, best))
    words, names, by_row = set[str](), set[str](), dict[int, list[_Candidate]]()
    rejected, joint = set[_Candidate](), set[int]()

    def trial(tried: list[_Candidate]) -> tuple[list[_Candidate], str, _Errors]:
        """Return those that help if all uses of these words go, with that text and its errors."""
        tried_names = {each.name for each in tried}
        every = [each for row in by_row.values() for each in row if each.name in tried_names]
        other = _without(best, every)
        others = _errors_of(parse(other))
        fewer = {each: _fewer(errors.rows, others.rows, code, each) for each in every}
        sums = Counter[str]()
        for each in every:
            sums[each.name] += fewer[each]
        return [each for each in tried if fewer[each] > 0 and sums[each.name] > 0], other, others

    for _ in range(ROUNDS_MAX):
        if more := {match[0] for match in _words_near(code, errors.rows)} - words:
            words |= more
            by_row = _candidates(code, words)
        by_row = {row: [each for each in listed if each.name not in names] for row, listed in by_row.items()}
        tried = _choose(errors.rows, by_row, rejected, joint)
        if not tried:
            break
        right, other, others = trial(tried)
        if 0 < len(right) < len(tried):
            _, other, others = trial(right)
        rejected.update(set(tried).difference(right))
        if not right:
            continue
        if others.total >= errors.total:
            rejected.update(right)
            continue
        best, errors = other, others
        names.update(each.name for each in right)
        rejected.difference_update(each for each in tried if each.is_statement)  # beside errors that went
    return best


def _words_near(text: str, errors: Iterable[int]) -> Iterator[re.Match[str]]:
    """Yield the words in capitals in the lines of errors and those above, directives left out."""
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text)), len(text) + 1]
    for row in sorted({row for error in errors for row in (error - 1, error) if 0 <= row < len(starts) - 1}):
        if not text[starts[row] : starts[row + 1]].lstrip().startswith("#"):
            yield from _WORD.finditer(text, starts[row], starts[row + 1] - 1)


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
            elif node.is_missing and (outer := node.parent) and (following := outer.next_sibling):
                row = following.start_point[0]
                if row > node.start_point[0] + 1:
                    rows[-1] = row  # the actual place, behind blank lines
        if node.has_error:
            pending += node.children
    return _Errors(sorted(rows), len(rows) + lines)


def _candidates(code: str, words: set[str]) -> dict[int, list[_Candidate]]:
    """Return the uses of `words` that may be such macros by line, from 0, in the order of the text;
    none of a word that is used as a type or value elsewhere.
    """
    by_row: dict[int, list[_Candidate]] = {}
    uses = [match for match in _WORD.finditer(code) if match[0] in words]
    used = {match[0] for match in uses if _is_used(code, match)}
    row = done = statements = after = 0
    for match in uses:
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


def _is_used(code: str, match: re.Match[str]) -> bool:
    start, end = match.span()
    return _USED.match(code, end) is not None or (
        _PARAMETER.match(code, end) is not None
        and _PARAMETER_BEFORE.search(code, max(0, start - BEFORE_MAX), start) is not None
    )


def _is_part(before: str, name: str) -> bool:
    """Return True if the text before a word ends with a call of the same word within its line."""
    head = before[: before.rfind("(")].rstrip()
    return head.endswith(name) and _is_within_line(head, len(head) - len(name))


def _is_within_line(text: str, at: int) -> bool:
    return bool(text[text.rfind("\n", 0, at) + 1 : at].strip())


def _is_value(code: str, match: re.Match[str]) -> bool:
    before = code[max(0, match.start() - BEFORE_MAX) : match.start()].rstrip()[-KEYWORD_MAX:]
    return _VALUE_BEFORE.search(before) is not None and not (
        _QUALIFIED.match(code, match.end()) or (_POINTER.search(before) and _NAMED.match(code, match.end()))
    )


def _candidate(code: str, match: re.Match[str], after: int) -> _Candidate | None:
    """Return a word that may be such a macro, with its arguments. `after` is the end of the last
    one that is a statement, 0 for none.
    """
    start, end = match.span()
    if _is_value(code, match):
        return None
    before = code[max(0, start - BEFORE_MAX) : start].rstrip()
    goes_on = not code[after:start].strip() if after else False
    if not goes_on and before[-1:] == ")" and _is_part(before, match[0]):
        return None  # parts of a text, `PART("a") PART("b")`
    is_behind = not goes_on and _BEHIND.search(before[-BEHIND_MAX:]) is not None
    arguments = _ARGUMENTS_OPEN.match(code, end)
    if arguments is not None:
        end = _closing(code, arguments.end() - 1) + 1
        if not end or (
            _CALL.search(code, arguments.end(), end - 1)
            and _LINE_END.match(code, end)
            and not is_in_class(code, start)
        ):
            return None
    declares = _DECLARES.match(code, end) is not None
    ends = _ENDS.match(code, end) is not None
    tail = before[-BEHIND_MAX:]
    if arguments is not None and ends and _VARIABLE_BEFORE.search(tail) and not _BODY.match(code, end):
        return _Candidate(match[0], start, end)
    is_head = _SPACE_BEFORE.search(tail) or (arguments is None and _CLASS_BEFORE.search(tail))
    if is_head and _BASES.match(code, end):
        return _Candidate(match[0], start, end)
    if is_behind and (declares or ends or (arguments is None and _CLOSES.match(code, end))):
        return _Candidate(match[0], start, end)
    is_statement = (goes_on or _STATEMENT.search(before[-1:]) is not None) and _LINE_END.match(
        code, end
    ) is not None
    closes = is_statement and _CLOSES.match(code, end) is not None
    if arguments is None:
        return _Candidate(match[0], start, end) if declares or closes else None
    if not declares and not closes:
        return None
    if _RESULT_BEFORE.search(before[-KEYWORD_MAX:]) and (result := _RESULT.match(code, arguments.end() - 1)):
        return _Candidate(match[0], start, end, f"{' ' * (result.start(1) - start)}{result[1]}")
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


def _without(text: str, candidates: Iterable[_Candidate]) -> str:
    parts, done = list[str](), 0
    for each in sorted(candidates, key=lambda each: each.start):
        if each.start >= done:
            blanks = _NO_NEWLINE.sub(" ", text[each.start : each.end])
            parts += text[done : each.start], each.text, blanks[len(each.text) :]
            done = each.end
    return "".join((*parts, text[done:]))


def _fewer(before: list[int], after: list[int], code: str, candidate: _Candidate) -> int:
    """Return how many of the errors around a word, sorted by line, are gone."""
    first = candidate.row - 1
    end = candidate.row + 2 + code.count("\n", candidate.start, candidate.end)
    others, near = (bisect_left(rows, end) - bisect_left(rows, first) for rows in (before, after))
    return others - near
