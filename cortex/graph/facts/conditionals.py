"""Preprocessor conditions of C and C++ that stand in the middle of something: `#if` between the
parts of an expression, around half of a block. To the grammar the rest of the file is then in
pieces; with the first branch alone, and without the directives, it reads. Pure text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|else|endif)\b(.*)")
#: what is no code of a line
_NO_CODE = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//.*|/\*.*?\*/')
#: the end of a line after which something is to follow
_OPEN_END = re.compile(r"(?:[,(&|+=?<]|\)\s*:|^\s*:)$")
#: lines before a condition among which code is looked for
LINES_BACK = 8
#: a condition that is never true
_NEVER = re.compile(r"\s*0\s*$")


@dataclass(frozen=True, slots=True)
class _Condition:
    """The lines of its directives, `#if` first and `#endif` last."""

    at: tuple[int, ...]

    @property
    def branches(self) -> list[range]:
        return [range(one + 1, other) for one, other in zip(self.at, self.at[1:], strict=False)]


def straighten(lines: Sequence[str]) -> list[str]:
    """`lines` without the directives of conditions inside of something, and without all but one of
    their branches. As many lines as before.
    """
    found = list(lines)
    for one in _conditions(lines):
        if not _is_inside(one, found):
            continue
        kept = 1 if _NEVER.match(_DIRECTIVE.match(lines[one.at[0]])[2]) and len(one.at) > 2 else 0  # type: ignore[index]
        for number, branch in enumerate(one.branches):
            if number != kept:
                for at in branch:
                    found[at] = ""
        for at in one.at:
            found[at] = ""
    return found


def _conditions(lines: Sequence[str]) -> list[_Condition]:
    """Those without an end are left out; what is inside another one comes first."""
    opened: list[list[int]] = []
    found: list[_Condition] = []
    for at, line in enumerate(lines):
        if "#" not in line or (match := _DIRECTIVE.match(line)) is None:
            continue
        if match[1].startswith("if"):
            opened.append([at])
        elif opened:
            opened[-1].append(at)
            if match[1] == "endif":
                found.append(_Condition(tuple(opened.pop())))
    return found


def _is_inside(one: _Condition, lines: Sequence[str]) -> bool:
    if _OPEN_END.search(_code_before(lines, one.at[0])):
        return True
    for branch in one.branches:
        code = [_code(lines[at]) for at in branch if not lines[at].lstrip().startswith("#")]
        text = "\n".join(code)
        if text.count("{") != text.count("}") or text.count("(") != text.count(")"):
            return True
        last = next((line for line in reversed(code) if line), "")
        if _OPEN_END.search(last) and not last.endswith("\\"):
            return True
    return False


def _code(line: str) -> str:
    return _NO_CODE.sub("0", line).rstrip() if '"' in line or "/" in line or "'" in line else line.rstrip()


def _code_before(lines: Sequence[str], at: int) -> str:
    """The last line of code before a directive that is none itself."""
    for line in reversed(lines[max(0, at - LINES_BACK) : at]):
        if line.lstrip().startswith("#"):
            return ""
        if (code := _code(line)).strip() not in ("", "0"):
            return code
    return ""
