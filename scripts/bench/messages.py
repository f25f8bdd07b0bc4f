"""A benchmark of pasted messages: texts of code, drawn by lot, beside ripgrep.

    scripts/bench/messages.py FOLDER … [--count 120] [--json]

Three of four follow what a program puts before one (`Error: `); values (`%s`) are a word. `first`:
the answer begins with the file that holds the text; `shown`: the line is in the answer. ripgrep
searches for the message alone: -F, in any case.
"""

from __future__ import annotations

import asyncio
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from product import connect, isolated_environment, open_project, wait_until_indexed
from report import begin, make_parser, print_machine, print_table, write

from cortex.terms.languages import language_of
from cortex.terms.paths import is_test, is_unshipped

sys.path.append(str(Path(__file__).parent / "agents"))

from shown import lines_of, shown_lines

#: a text of code: four words or more, without escapes
_TEXT = re.compile(r"\"([A-Za-z][^\"\\]{14,90})\"")
#: `path:12  Name: code`, `  12  Name: code` below its path, `path: 12, 40`
_SITE = re.compile(r"(?:(\S+?):\s?|  )(\d+(?:, \d+)*)(?:  |: |$)")
_COMMENT, _WORD, _WORDS_MIN = ("//", "#", "*", "import"), re.compile(r"\b[A-Za-z]{2,}\b"), 4
_BEFORE, _VALUE = ("", "Error: ", "ValueError: ", "panic: "), re.compile(r"%[a-z]|\{\w*\}")


def draw(root: Path, count: int) -> list[tuple[str, int, str]]:
    """Return (path, line, text) of `count` texts of shipped code, the same for the same files."""
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=True)
    drawn = []
    for path in listed.stdout.splitlines():
        if not language_of(path).patterns or is_test(path) or is_unshipped(path):
            continue
        for number, line in enumerate((root / path).read_text(errors="replace").split("\n"), 1):
            texts = [match[1] for match in _TEXT.finditer(line) if match[1].isprintable()]
            if not line.lstrip().startswith(_COMMENT):
                drawn += [
                    (path, number, t) for t in texts if len(_WORD.findall(t)) >= _WORDS_MIN <= len(t.split())
                ]
    return random.Random(7).sample(sorted(drawn), min(count, len(drawn)))


def listed_lines(answer: str) -> set[tuple[str, int]]:
    """Return (path, line) of the lines that an answer lists."""
    listed, path = set(), ""
    for row in answer.split("\n"):
        match = _SITE.match(row)
        path = match[1] or path if match else row
        listed |= {(path, int(number)) for number in match[2].split(", ")} if match else set()
    return listed


def search(message: str, root: Path) -> str:
    """Return what ripgrep prints for a message."""
    command = ["rg", "-niF", "--no-heading", message, "."]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout


async def measure(root: Path, count: int) -> dict[str, Any]:
    await wait_until_indexed(root)
    sums = dict.fromkeys(("texts", "first", "shown", "ripgrep"), 0)
    async with connect(root, audience="agent") as front:
        for at, (path, number, text) in enumerate(draw(root, count)):
            message = _VALUE.sub("thing", text)
            question = {"query": _BEFORE[at % len(_BEFORE)] + message}
            answer = (await front.session.call_tool("cortex_search", question)).content[0].text  # type: ignore[union-attr]
            sums["texts"] += 1
            sums["first"] += re.split(r":\d|\n", answer)[0] == path
            shown = listed_lines(answer) | lines_of(shown_lines(answer, ["cortex"], root))
            sums["shown"] += (path, number) in shown
            sums["ripgrep"] += f"./{path}:{number}:" in search(message, root)
    return sums


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=120)
    options = parser.parse_args()
    figures = begin("messages")
    for folder in options.folders:
        with isolated_environment(), open_project(folder):
            figures[folder.name] = asyncio.run(measure(folder.resolve(), options.count))
    rows = [[folder.name, *figures[folder.name].values()] for folder in options.folders]
    print_table(["", "texts", "first", "shown", "ripgrep"], rows)
    print_machine(figures)
    if options.json:
        write(figures)


if __name__ == "__main__":
    main()
