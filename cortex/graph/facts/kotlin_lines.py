"""Line ends that Kotlin's grammar misreads, so that a whole class is in pieces: behind a class's
name before the modifiers of its constructor, and before a call of `get`, taken for a property's
getter. Types that a call with arguments is told, which it takes for comparisons. Types whose body
is on one line, of whose last member it wants the end said. Pure text; lines and columns of
everything else stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: nothing of these is given back once it is read: a line may be long, and anything
_CLASS = re.compile(r"\bclass\s++\w++\s*+(?:<[^(){}]*>)?\s*+$")
_MARKS = r"\s*+(?:@[\w.:]++(?:\([^()]*+\))?+\s*+)*+"
_ONLY_MARKS = re.compile(rf"{_MARKS}$")
_CONSTRUCTOR = re.compile(
    rf"{_MARKS}(?:(?:private|protected|internal|public|actual|expect)\s++)*+{_MARKS}constructor\s*+\("
)
_TYPE = r"[A-Z][\w.]*+(?:<[\w.?*, ]*+>)?+\??+"
#: a call that is told types, `save<Disk>(x)`: to the grammar `(save < Disk) > (x)`
_TYPED_CALL = re.compile(
    rf"((?:(?<![\w.])|(?<=\.))[a-z]\w*+|(?:[=(.]|return|->)\s*+[A-Z]\w*+)(<{_TYPE}(?:,\s*+{_TYPE})*+>)(?=\([^)])",
    re.ASCII,
)
_CALLED_GET = re.compile(r"\s*+get\s*+\((?!\s*+\))")
#: what braces may be in or behind without being ones; and they, and the ends of statements
_PARTS = re.compile(r'"(?:[^"\\]|\\.)*+"|\'(?:[^\'\\]|\\.)*+\'|/\*.*?\*/|//.*|[{};]')
_TYPE_OPENS = re.compile(r"(?<!::)\b(?:class|interface|object)\b")
#: what is to follow is on the next line
_GOES_ON = re.compile(r"\b(?:else|do|return|throw)$|\b(?:if|while|for|when)\s*+\(.*\)$")
#: lines with annotations alone between a class's name and its constructor
MARKS_MAX = 6
#: characters of a line that is looked at
LINE_CHARS_MAX = 1_000


def join_broken_lines(lines: Sequence[str]) -> list[str]:
    """`lines` as the grammar reads them; as many as before."""
    output = list(lines)
    for at, written in enumerate(lines):
        if len(written) > LINE_CHARS_MAX:
            continue
        type_on_line = "}" in written and _TYPE_OPENS.search(written)
        line = _close_last_member(written) if type_on_line else written
        if type_on_line:
            output[at] = line
        if ">(" in line:
            output[at] = _TYPED_CALL.sub(lambda match: match[1] + " " * len(match[2]), line)
        if "constructor" in line and (opens := _CONSTRUCTOR.match(line)) is not None:
            name = _class_above(lines, at)
            if name is not None:
                output[name] += "("
                output[name + 1 : at] = [""] * (at - name - 1)
                output[at] = " " * opens.end() + line[opens.end() :]
        elif "get" in line and at and _CALLED_GET.match(line):
            above = next((n for n in range(at - 1, -1, -1) if lines[n].strip()), None)
            if above is not None and _ends_statement(lines[above]):
                output[above] += ";"
    return output


def _close_last_member(line: str) -> str:
    """`class A { val x = 2 }` with a semicolon in the blank behind its last member."""
    opened: list[bool] = []
    begins, last, ends = 0, "", []
    for token in _PARTS.finditer(line):
        if token[0] not in "{};":
            continue
        if token[0] == "{":
            opened.append(_TYPE_OPENS.search(line, begins, token.start()) is not None)
        elif token[0] == "}":
            body = line[begins : token.start()]
            blank = line[token.start() - 1] == " "
            if opened and opened.pop() and blank and (body.strip() or last == "}"):
                ends.append(token.start() - 1)
        begins, last = token.end(), token[0]
    return "".join(";" if at in ends else letter for at, letter in enumerate(line)) if ends else line


def _class_above(lines: Sequence[str], at: int) -> int | None:
    for above in range(at - 1, max(-1, at - 2 - MARKS_MAX), -1):
        if len(lines[above]) > LINE_CHARS_MAX or "//" in lines[above]:
            return None
        if _CLASS.search(lines[above]):
            return above
        if not _ONLY_MARKS.match(lines[above]):
            return None
    return None


def _ends_statement(line: str) -> bool:
    """Not a comment, nor something that goes on."""
    line = line.rstrip()
    last = line[-1:]
    if "//" in line or len(line) > LINE_CHARS_MAX or _GOES_ON.search(line):
        return False
    return last in ")\"'}]" or last.isalnum()
