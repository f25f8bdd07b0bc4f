"""The lines of a repository's files that an output shows. Pure but for reading the files.

A file counts if its path stands in the output or in the command. Of rg and sed the numbers are
known. Of any other answer a line counts if it stands there with its number, or if its text stands
there, occurs once in its file, and has such a neighbour; short gaps between such lines count too.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

#: letters and digits of a line that its text identifies
LETTERS_MIN = 4
#: lines between two shown ones that count as shown
GAP_MAX = 2
#: `path:12:text` and `path-12-text` of rg; `12:text` of one file
_RG = re.compile(r"^(?P<path>[^\s:][^:\n]*?)(?P<mark>[:-])(?P<line>\d+)(?P=mark)")
_RG_ALONE = re.compile(r"^(\d+)[:-]")
#: a number before the text of a line, as readers print it
_NUMBERED = re.compile(r"^\s*(\d+)(?:\s*[|:→\t]|\s{1,2}|-) ?(.*)$")
_SED = re.compile(r"(\d+)(?:,(\+?\d+|\$))?p")

Range = list[Any]


def shown_lines(output: str, command: Sequence[str], tree: Path) -> list[Range]:
    """Return [path, first, last] of the lines that the output shows, sorted."""
    if command[0] == "sed":
        lines = _of_sed(command, tree)
    elif command[0] == "rg":
        lines = _of_rg(output, command, tree)
    else:
        lines = _of_text(output, command, tree)
    return ranges(lines)


def ranges(lines: Iterable[tuple[str, int]]) -> list[Range]:
    """Return (path, number) pairs as sorted ranges."""
    merged: list[Range] = []
    for path, number in sorted(set(lines)):
        if merged and merged[-1][0] == path and merged[-1][2] == number - 1:
            merged[-1][2] = number
        else:
            merged.append([path, number, number])
    return merged


def lines_of(shown: Iterable[Range]) -> set[tuple[str, int]]:
    return {(path, number) for path, first, last in shown for number in range(first, last + 1)}


def _of_sed(command: Sequence[str], tree: Path) -> Iterator[tuple[str, int]]:
    for name in command[3:]:
        if not (tree / name).is_file():
            continue
        count = len(_text(tree / name).split("\n"))
        for first, last in _SED.findall(command[2]):
            start = int(first)
            end = (
                start + int(last[1:])
                if last.startswith("+")
                else count
                if last == "$"
                else int(last or start)
            )
            for number in range(start, min(end, count) + 1):
                yield os.path.normpath(name), number


def _of_rg(output: str, command: Sequence[str], tree: Path) -> Iterator[tuple[str, int]]:
    named = [word for word in command[1:] if not word.startswith("-") and (tree / word).is_file()]
    heading = ""
    for line in output.split("\n"):
        match = _RG.match(line)
        if match and (tree / match["path"]).is_file():
            yield os.path.normpath(match["path"]), int(match["line"])
        elif alone := _RG_ALONE.match(line):
            if heading or len(named) == 1:
                yield os.path.normpath(heading or named[0]), int(alone[1])
        elif line and (tree / line).is_file():
            heading = line


def _of_text(output: str, command: Sequence[str], tree: Path) -> Iterator[tuple[str, int]]:
    text = "\n".join(_strings(output))
    mentions = text + " " + " ".join(command[1:])
    printed: set[str] = set()
    numbered: set[tuple[int, str]] = set()
    for line in text.split("\n"):
        printed.add(line.strip())
        if match := _NUMBERED.match(line):
            printed.add(match[2].strip())
            numbered.add((int(match[1]), match[2].strip()))
    for path in _files(tree):
        if path in mentions:
            lines = [line.strip() for line in _text(tree / path).split("\n")]
            yield from ((path, number) for number in _matching(lines, printed, numbered))


def _matching(lines: Sequence[str], printed: set[str], numbered: set[tuple[int, str]]) -> Iterator[int]:
    """Yield the numbers of the lines that stand in an output."""
    counts = Counter(lines)
    runs: list[list[int]] = []
    for number, line in enumerate(lines, 1):
        is_numbered = (number, line) in numbered
        if is_numbered or (
            counts[line] == 1 and line in printed and len(re.findall(r"\w", line)) >= LETTERS_MIN
        ):
            if runs and number - runs[-1][-1] - 1 <= GAP_MAX:
                runs[-1].append(number)
            else:
                runs.append([number])
    for run in runs:
        if len(run) > 1 or (run[0], lines[run[0] - 1]) in numbered:
            yield from range(run[0], run[-1] + 1)


def _strings(output: str) -> list[str]:
    """Return the strings of a JSON answer; other answers as they are."""
    try:
        answer = json.loads(output)
    except json.JSONDecodeError:
        return [output]
    strings: list[str] = []
    pending = [answer]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            strings.append(value)
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return strings


def _files(tree: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name not in (".git", ".cortex", ".codegraph")]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), tree)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
