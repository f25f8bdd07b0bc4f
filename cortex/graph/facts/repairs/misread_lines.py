"""Repairs of lines that a grammar misreads, so that a whole class or file falls into pieces.

In Kotlin:

* a line end between a class's name and the modifiers of its constructor
* a line end before a call of `get`, which it takes as a property's getter
* type arguments of a call with arguments or a block, which it takes as comparisons
* a type on one line: its last member needs a separator
* annotations in a list, `@[Test Slow]`, of which the first stays
* a name like a modifier at the beginning of a statement, `inline = true`: the name is lost
* guards in `when`, `is Disk if ready ->`, and texts with several dollars, `$$"…"`

In TypeScript, the type parameters at the beginning of a signature, `<T>(x: T): T`, which it takes
as type arguments of the line above. Pure text; lines and columns of all other code stay the same.
"""

import re
from collections.abc import Sequence

#: possessive quantifiers: a line may be long and of any content, so the patterns never backtrack
_CLASS = re.compile(r"\bclass\s++\w++\s*+(?:<[^(){}]*>)?\s*+$")
_MARKS = r"\s*+(?:@[\w.:]++(?:\([^()]*+\))?+\s*+)*+"
_ONLY_MARKS = re.compile(rf"{_MARKS}$")
_CONSTRUCTOR = re.compile(
    rf"{_MARKS}(?:(?:private|protected|internal|public|actual|expect)\s++)*+{_MARKS}constructor\s*+\("
)
_TYPE = r"[A-Z][\w.]*+(?:<[\w.?*, ]*+>)?+\??+"
#: a call with type arguments, `save<Disk>(x)`: the grammar reads `(save < Disk) > (x)`
_TYPED_CALL = re.compile(
    rf"((?:(?<![\w.])|(?<=\.))[a-z]\w*+|(?:[=(.]|return|->)\s*+[A-Z]\w*+)(<{_TYPE}(?:,\s*+{_TYPE})*+>)(?=\([^)])",
    re.ASCII,
)
#: one with a block, `use<Disk> { … }`; not `class use<Disk> {`
_TYPED_BLOCK = re.compile(
    r"((?<!\bclass )(?<!\binterface )(?:(?<![\w.])|(?<=\.))[a-z]\w*+|(?:[=(]|return|->)\s*+[A-Z]\w*+)"
    r"(<[A-Z][\w.]*+>)(?=\s*+\{)",
    re.ASCII,
)
_ANNOTATIONS = re.compile(r"\s*+@\[(\w++)(?:[^\]\[]*+)\]\s*+$")
_MODIFIER_NAME = re.compile(
    r"\s++(?:open|inline|infix|external|final|sealed|abstract|override|internal|public|tailrec)(?=\s?=[^=]|\(|\.\w)"
)
_GUARD = re.compile(r"(\s*+!?is\s++[\w.]++(?:<[^()]*?>)?\s++)if(?=\s.*->)")
_DOLLARS = re.compile(r'(^\s*+|[=(,]\s*+)(\$\$++)(?=")')
_CALLED_GET = re.compile(r"\s*+get\s*+\((?!\s*+\))")
#: strings and comments, in which braces do not count; braces and the ends of statements
_PARTS = re.compile(r'"(?:[^"\\]|\\.)*+"|\'(?:[^\'\\]|\\.)*+\'|/\*.*?\*/|//.*|[{};]')
_TYPE_OPENS = re.compile(r"(?<!::)\b(?:class|interface|object)\b")
#: a line of Kotlin that continues on the next one
_STATEMENT_GOES_ON = re.compile(r"\b(?:else|do|return|throw)$|\b(?:if|while|for|when)\s*+\(.*\)$")
#: lines with annotations only between a class's name and its constructor
MARKS_MAX = 6
#: characters of the longest line that is read
LINE_CHARS_MAX = 1_000
#: a line that begins with the type parameters of a signature
_SIGNATURE_OPENS = re.compile(r"\s+<(?:\s*$|(?:const\s+)?[A-Za-z_$])")
#: ends of lines of TypeScript that continue
_LINE_GOES_ON = re.compile(r"(?:[{(\[<;,:=|&?.]|=>|\b(?:extends|implements|keyof|typeof|infer|is|new))$")
_COMMENT = re.compile(r"\s*(?://|/?\*)|.*\*/$")
#: lines of comments between two signatures
COMMENTS_MAX = 80


def join_broken_lines(lines: Sequence[str]) -> list[str]:
    """Return repaired lines of Kotlin; their number stays the same."""
    output = list(lines)
    for at, written in enumerate(lines):
        if len(written) > LINE_CHARS_MAX:
            continue
        output[at] = line = _repaired_line(written, lines[at - 1] if at else "")
        if "constructor" in line and (opens := _CONSTRUCTOR.match(line)) is not None:
            if (name := _class_above(lines, at)) is not None:
                output[name] += "("
                output[name + 1 : at] = [""] * (at - name - 1)
                output[at] = " " * opens.end() + line[opens.end() :]
        elif "get" in line and at and _CALLED_GET.match(line):
            above = next((n for n in range(at - 1, -1, -1) if lines[n].strip()), None)
            if above is not None and _ends_statement(lines[above]):
                output[above] += ";"
    return output


def _repaired_line(line: str, above: str) -> str:
    """Return a line of Kotlin as the grammar reads it, as long as before."""
    if "}" in line and _TYPE_OPENS.search(line):
        line = _close_last_member(line)
    named = _MODIFIER_NAME.match(line)
    if named is not None and line[-1:] != "," and above[-1:] not in ("(", ","):  # else an argument's name
        line = f"{named[0][:-1]}_{line[named.end() :]}"
    if "@[" in line and (listed := _ANNOTATIONS.match(line)) is not None:
        line = f"{line[: line.index('@')]}@{listed[1]}".ljust(len(line))
    if " if " in line and "->" in line and (guard := _GUARD.match(line)) is not None:
        line = f"{guard[1]}, {line[guard.end() :]}"
    if '$$"' in line:
        line = _DOLLARS.sub(_blank_second, line)
    if ">(" in line:
        line = _TYPED_CALL.sub(_blank_second, line)
    return _TYPED_BLOCK.sub(_blank_second, line) if "> {" in line or ">{" in line else line


def _blank_second(match: re.Match[str]) -> str:
    return match[1] + " " * len(match[2])


def _close_last_member(line: str) -> str:
    """Return `class A { val x = 2 }` with a semicolon in the blank after its last member."""
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
    """Return True if a line ends a statement: it is no comment and has no continuation."""
    line = line.rstrip()
    last = line[-1:]
    if "//" in line or len(line) > LINE_CHARS_MAX or _STATEMENT_GOES_ON.search(line):
        return False
    return last in ")\"'}]" or last.isalnum()


def end_signatures(lines: Sequence[str]) -> list[str]:
    """Return `lines` with a semicolon before each such signature; their number stays the same."""
    output = list(lines)
    for at, line in enumerate(lines):
        if "<" not in line or len(line) > LINE_CHARS_MAX or not _SIGNATURE_OPENS.match(line):
            continue
        above = next(
            (
                lines[number]
                for number in range(at - 1, max(-1, at - 2 - COMMENTS_MAX), -1)
                if lines[number].strip() and not _COMMENT.match(lines[number])
            ),
            "{",
        )
        if len(above) <= LINE_CHARS_MAX and not _LINE_GOES_ON.search(above.partition(" //")[0].rstrip()):
            column = line.index("<")
            output[at] = f"{line[: column - 1]};{line[column:]}"
    return output
