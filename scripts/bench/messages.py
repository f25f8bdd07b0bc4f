"""A benchmark of pasted messages: texts of code, drawn by lot, beside ripgrep.

    scripts/bench/messages.py FOLDER … [--count 120] [--json]

Three of four follow what a program puts before one (`Error: `); values (`%s`) are a word.
`first`, `mapped`: the definition that holds the text; `listed`: its line is in the answer.
ripgrep searches for the message alone: -F, in any case.
"""

from __future__ import annotations

import asyncio
import random
import re
import subprocess
from pathlib import Path
from typing import Any

from product import connect, isolated_environment, open_project, wait_until_indexed
from report import begin, make_parser, print_machine, print_table, write

from cortex.terms.languages import language_of
from cortex.terms.paths import is_test, is_unshipped

#: a text of code: four words or more, without escapes
_TEXT = re.compile(r"\"([^\"\\]{15,90})\"|'([^'\\]{15,90})'")
#: `path:12-40  Name`, `  12-40  Name` below its path, `path: 12, 40`
_PLACE = re.compile(r"(?:(\S+?):\s?|  )(\d+(?:-\d+)?(?:, \d+)*)(?:  |$)")
_COMMENT, _WORDS_MIN = ("//", "#", "*", "import"), 4
_BEFORE, _VALUE = ("", "Error: ", "ValueError: ", "panic: "), re.compile(r"%[a-z]|\{\w*\}")


def draw(root: Path, count: int) -> list[tuple[str, int, str]]:
    """Return (path, line, text) of `count` texts of shipped code, the same for the same files."""
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=True)
    texts = []
    for path in listed.stdout.splitlines():
        if language_of(path).kind != "code" or is_test(path) or is_unshipped(path):
            continue
        for number, line in enumerate((root / path).read_text(errors="replace").split("\n"), 1):
            if not line.lstrip().startswith(_COMMENT):
                inside = (match[1] or match[2] for match in _TEXT.finditer(line))
                texts += [
                    (path, number, t)
                    for t in inside
                    if t.isprintable() and len(re.findall(r"\w\w+", t)) >= _WORDS_MIN
                ]
    return random.Random(7).sample(sorted(texts), min(count, len(texts)))


def read_places(text: str) -> list[tuple[str, int, int]]:
    """Return (path, first line, last line) of the places in a part of an answer."""
    places, path = [], ""
    for line in text.split("\n"):
        if match := _PLACE.match(line):
            path = match[1] or path
            for span in match[2].split(", "):
                first, _, last = span.partition("-")
                places.append((path, int(first), int(last or first)))
        else:
            path = line
    return places


def find(message: str, root: Path) -> str:
    """Return what ripgrep prints for a message."""
    command = ["rg", "-niF", "--no-heading", message, root]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


async def measure(root: Path, count: int) -> dict[str, Any]:
    await wait_until_indexed(root)
    sums = dict.fromkeys(("first", "mapped", "listed", "ripgrep"), 0)
    drawn = draw(root, count)
    async with connect(root, audience="agent") as front:
        for at, (path, number, text) in enumerate(drawn):
            message = _VALUE.sub("thing", text)
            question = _BEFORE[at % len(_BEFORE)] + message
            reply = await front.session.call_tool("cortex_search", {"query": question})
            mapped, _, rest = reply.content[0].text.partition("\n\n")  # type: ignore[union-attr]
            holding = [file == path and a <= number <= b for file, a, b in read_places(mapped)]
            lines = rest.partition("\n\n")[0] if rest.startswith("lines with") else ""
            sums["first"] += any(holding[:1])
            sums["mapped"] += any(holding)
            sums["listed"] += (path, number, number) in read_places(lines)
            sums["ripgrep"] += f"{path}:{number}:" in find(message, root)
    return {"texts": len(drawn)} | sums


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=120)
    options = parser.parse_args()
    figures = begin("messages")
    for folder in options.folders:
        with isolated_environment(), open_project(folder):
            figures[folder.name] = asyncio.run(measure(folder.resolve(), options.count))
    names = [folder.name for folder in options.folders]
    print_table(["", *figures[names[0]]], [[name, *figures[name].values()] for name in names])
    print_machine(figures)
    if options.json:
        write(figures)


if __name__ == "__main__":
    main()
