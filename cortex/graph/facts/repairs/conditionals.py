"""Preprocessor conditions of C, C++ and C# inside another construct: between the parts of an
expression, or around half of a block.

The grammar fails on the rest of such a file. It parses with the first branch only and without the
directives. Pure text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cortex.terms.code.headers import NO_CODE

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|else|endif)\b(.*)")
#: a directive with its continuation lines
_WHOLE_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
#: the end of a line that needs a continuation
_OPEN_END = re.compile(
    r"(?:[,(&|+=?<>]|\)\s*:|^\s*:|\b(?:namespace|constexpr|static|inline|extern|else)|^\s*__attribute__\s*\(\(.*\)\))$"
)
#: begins a line that continues the statement above; in a branch also one that ends a block
_CONTINUES = re.compile(r"\s*(?:else|catch|finally)\b")
_ENDS_BLOCK = re.compile(r"\s*\}")
#: begins a line that continues the line above: a further parameter, constructor's initialisers; in
#: C# an expression body, a link of calls
_OPEN_BEGIN = re.compile(r"\s*(?:,|:(?!:)|\?|&&|\|\|)")
_OPEN_BEGIN_OF_CSHARP = re.compile(r"\s*(?:=>|\.\w|\?|:|&&|\|\|)")
#: begins a constructor's initialisers
_INITIALIZERS = re.compile(r"\s*:(?!:)")
#: depth of nested conditions that are checked: each reads all of its lines
DEPTH_MAX = 32
#: lines before and after a condition that are searched for code
LINES_BACK = 8
#: a condition that is never true, and one about a single name
_NEVER = re.compile(r"\s*0\s*$")
_DEFINED = re.compile(
    r"[ \t]*#[ \t]*if(?:(n?)def[ \t]+(\w+)|[ \t]+(!?)[ \t]*defined\b[ \t(]*(\w+)[ \t)]*)[ \t]*(?:/[/*].*)?$"
)


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition: the lines of its directives, `#if` first and `#endif` last."""

    at: tuple[int, ...]

    @property
    def branches(self) -> list[range]:
        return [range(start + 1, other) for start, other in zip(self.at, self.at[1:], strict=False)]


def drop_inner_conditionals(lines: Sequence[str], *, csharp: bool = False) -> list[str]:
    """Return `lines` without the conditions that split a construct, except for one branch of each,
    the first; a name that one condition takes as defined is so in all of them.

    The number of lines stays the same.
    """
    output = list(lines)
    defined: dict[str, bool] = {}
    for condition in _conditions(lines):
        if not _splits_construct(condition, output, csharp=csharp):
            continue
        directive = _DIRECTIVE.match(lines[condition.at[0]])
        live_branch = 1 if _NEVER.match(directive[2]) and len(condition.at) > 2 else 0  # type: ignore[index]
        if name_test := _DEFINED.match(lines[condition.at[0]]):
            wanted = not (name_test[1] or name_test[3])
            live_branch = int(defined.setdefault(name_test[2] or name_test[4], wanted) != wanted)
        directives = list(condition.at)
        for number, branch in enumerate(condition.branches):
            if number != live_branch:
                for at in branch:
                    output[at] = ""
            elif _is_unfinished(_last_code_line(output, condition.at[0])):
                directives += _leading_directives(output, branch)
        for first in directives:
            for at in range(first, _directive_end(lines, first)):
                output[at] = ""
    return output


def _is_unfinished(line: str) -> bool:
    """Return True for a line of code that ends no statement, label or block: `class Disk`."""
    return bool(line) and line[-1] not in ";{}:"


def _leading_directives(lines: Sequence[str], branch: range) -> Iterator[int]:
    """Yield the directives before a branch's code: none can be in the head of a class."""
    code_at = branch.start
    while code_at < branch.stop and (not lines[code_at].strip() or lines[code_at].lstrip()[0] == "#"):
        if lines[code_at].strip():
            yield code_at
        code_at = _directive_end(lines, code_at) if lines[code_at].strip() else code_at + 1


def _directive_end(lines: Sequence[str], at: int) -> int:
    """Return the line after a directive, continuation lines included."""
    return next((end + 1 for end in range(at, len(lines)) if not lines[end].endswith("\\")), at + 1)


def _conditions(lines: Sequence[str]) -> list[_Condition]:
    """Return the complete conditions up to the maximal depth; inner ones come first."""
    opened: list[list[int]] = []
    conditions: list[_Condition] = []
    for at, line in enumerate(lines):
        if (
            "#" not in line
            or (at and lines[at - 1].endswith("\\"))
            or (match := _DIRECTIVE.match(line)) is None
        ):
            continue
        if match[1].startswith("if"):
            opened.append([at])
        elif opened:
            opened[-1].append(at)
            if match[1] == "endif":
                condition = _Condition(tuple(opened.pop()))
                conditions += [condition] if len(opened) < DEPTH_MAX else []
    return conditions


def _splits_construct(condition: _Condition, lines: Sequence[str], *, csharp: bool) -> bool:
    if _OPEN_END.search(_last_code_line(lines, condition.at[0])):
        return True
    for branch in condition.branches:
        code = [line for line in _code_lines(lines[branch.start - 1 : branch.stop]) if line != "#"]
        text = "\n".join(code)
        if text.count("{") != text.count("}") or text.count("(") != text.count(")"):
            return True
        begin = _OPEN_BEGIN_OF_CSHARP if csharp else _OPEN_BEGIN
        if code and (_OPEN_END.search(code[-1]) or begin.match(code[0])):
            return True
        if code and (_CONTINUES.match(code[0]) or _ENDS_BLOCK.match(code[0])):
            return True
    after = _first_code_line(lines, condition.at[-1] + 1)
    if after.lstrip().startswith("{"):  # the body of a function with a head in each branch
        return _is_unfinished(_last_code_line(lines, condition.at[-1]))
    return bool(_CONTINUES.match(after) or _INITIALIZERS.match(after))


def _code_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines with code, without comments and contents of strings; "#" for a directive."""
    text = NO_CODE.sub(lambda match: "" if match[0].startswith("/") else "0", "\n".join(lines))
    text = _WHOLE_DIRECTIVE.sub("#", text)
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def _first_code_line(lines: Sequence[str], at: int) -> str:
    """Return the first code line from `at` on; "" if that is a directive."""
    code = _code_lines(lines[at : at + LINES_BACK])
    return "" if not code or code[0] == "#" else code[0]


def _last_code_line(lines: Sequence[str], at: int) -> str:
    """Return the last code line before a directive; "" if that is a directive too."""
    code = _code_lines(lines[max(0, at - LINES_BACK) : at])
    last = code[-1].rpartition("*/")[2] if code else ""  # of a comment that began further above
    return "" if last == "#" else last
