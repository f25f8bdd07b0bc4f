"""An agent's searches with ripgrep and sed alone: the patterns that it would try knowing the
question, not the code.

One or two calls of rg, then windows around the best printed lines. In its favour: it knows the kind
of the question, leaves out tests and documents unless the question wants them, and opens the frames
of a stack trace at once. But it uses no word that is not in the question, and no place that rg has
not printed.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

from tasks.answers import Piece, numbered, read_ripgrep
from tasks.records import Task

#: printed lines of one rg, as `| head -50` leaves; columns of each
LINES_MAX, COLUMNS_MAX = 50, 160
#: printed lines of a file's definitions
MAP_LINES_MAX = 120
#: calls of rg for a question in words
SEARCHES_MAX = 2
#: lines of a window, windows after a search, frames that are opened
WINDOW, WINDOWS, FRAMES = 40, 2, 3
#: words of a question that are tried, the longest
WORDS_MAX = 5
#: letters of a word that is tried
LETTERS_MIN = 4
#: printed lines below which a second rg is tried
FEW = 3
#: seconds for one call
CALL_S = 60
#: places to leave out of a search for code
NO_TESTS = ("-g", "!*[tT]est*", "-g", "!docs", "-g", "!*.md", "-g", "!CHANGES*", "-g", "!*.rst")
#: words of questions that say nothing about code
STOP_WORDS = frozenset(
    "about after again all also and another any are because been before being between both "
    "but can cannot come could did does done each effect else every find fix fixes fixed "
    "for from gets give given had has have here how instead into its just like made make "
    "makes many more most much must name names need not now off one only onto option "
    "options other over overview place places same say says should some such take takes "
    "than that the their them then there these they this through turn turned two under "
    "until use used uses using value values what when where whether which while who will "
    "with without would yet you your allow allowing avoid change changes code cover "
    "support tests introduce module handle handled implement look looks ".split()
)
#: names that look like identifiers and are none
NO_NAMES = frozenset({"JavaScript", "TypeScript", "GitHub"})
IDENTIFIER = re.compile(r"\w_\w|^_\w|[a-z][A-Z]|[A-Z]{2}[a-z]|\w(\.|::)\w|^[a-z]{6,}-[a-z]{4,}$")
#: the beginning of a definition in most languages
DEFINITION = r"\b(def|class|func|fn|fun|function|interface|struct|trait|enum|impl|type|sub|module|defp|defmodule|const|static|void|int)\b"


@dataclass
class Shell:
    """The calls for one question in `folder`, with the sum of their output."""

    folder: Path
    calls: int = 0
    bytes: int = 0
    pieces: list[Piece] = field(default_factory=list)

    def ripgrep(self, *arguments: str, most: int = LINES_MAX) -> list[str]:
        """Return the first printed lines."""
        done = subprocess.run(
            [
                "rg",
                "--no-heading",
                "--sort=path",
                f"--max-columns={COLUMNS_MAX}",
                "--max-columns-preview",
                *arguments,
            ],
            cwd=self.folder,
            check=False,
            capture_output=True,
            timeout=CALL_S,
        )
        lines = [
            line.removeprefix("./") for line in done.stdout.decode("utf-8", "replace").split("\n") if line
        ]
        return self._printed(lines[:most])

    def sed(self, file: str, start: int, end: int) -> None:
        lines = (self.folder / file).read_text(encoding="utf-8", errors="replace").split("\n")
        start = max(start, 1)
        self._printed(lines[start - 1 : end])
        self.pieces += [numbered(file, number) for number in range(start, min(end, len(lines)) + 1)]

    def _printed(self, lines: list[str]) -> list[str]:
        self.calls += 1
        self.bytes += sum(len(line.encode()) + 1 for line in lines)
        self.pieces += read_ripgrep("\n".join(lines))
        return lines


def search(task: Task, folder: Path) -> Shell:
    """Do all that an agent would do for the task."""
    shell = Shell(folder)
    {
        "rename": _name,
        "callers": _name,
        "pattern": _patterns,
        "error": _message,
        "stack": _frames,
        "module": _definitions,
        "tests": _tests,
    }.get(task.kind, _words)(task, shell)
    return shell


def _name(task: Task, shell: Shell) -> None:
    shell.ripgrep("-n", "-w", "-F", *NO_TESTS, "-e", last_name(task.target), ".")


def _patterns(task: Task, shell: Shell) -> None:
    shell.ripgrep("-n", *(argument for pattern in task.grep for argument in ("-e", pattern)), ".")


def _tests(task: Task, shell: Shell) -> None:
    tests = ("-n", "-g", "*[tT]est*/**", "-g", "*[tT]est*")
    printed = shell.ripgrep(*tests, "-w", "-e", last_name(task.target), ".")
    words = words_of(task.question)
    if not printed and len(words) > 1:
        printed = shell.ripgrep(*tests, "-i", "-e", _pairs(words), ".")
    _open_best(printed, words, shell, windows=1)


def _definitions(task: Task, shell: Shell) -> None:
    shell.ripgrep(
        "-n", "--with-filename", "-e", DEFINITION, "-e", r"^\w.*\) ?\{$", task.path, most=MAP_LINES_MAX
    )


def _message(task: Task, shell: Shell) -> None:
    literals = literals_of(task.question)
    printed = shell.ripgrep(
        "-n", "-F", *NO_TESTS, *(argument for text in literals for argument in ("-e", text)), "."
    )
    if not printed:
        _words(task, shell)
    else:
        _open_best(printed, words_of(task.question), shell, windows=1)


def _frames(task: Task, shell: Shell) -> None:
    opened: list[tuple[str, int]] = []
    for path, line in frames_of(task.question):
        file = _in_tree(path, shell)
        near = any(file == other and abs(line - at) < WINDOW // 2 for other, at in opened)
        if file and not near and len(opened) < FRAMES:
            shell.sed(file, line - WINDOW // 4, line + WINDOW // 4)
            opened.append((file, line))


def _in_tree(path: str, shell: Shell) -> str:
    """Return the longest end of a frame's path that is a file of the project.

    A bare name is looked up with one call.
    """
    parts = path.split("/")
    for at in range(len(parts)):
        end = "/".join(parts[at:])
        if "/" in end and (shell.folder / end).is_file():
            return end
    if len(parts) > 1:
        return ""
    return next(iter(shell.ripgrep("--files", "-g", parts[-1])), "")


def _words(task: Task, shell: Shell) -> None:
    names, words = names_of(task.question), words_of(task.question)
    printed: list[str] = []
    if names:
        printed = shell.ripgrep(
            "-n", "-F", *NO_TESTS, *(argument for name in names for argument in ("-e", name)), "."
        )
    if len(printed) < FEW and len(words) > 1:
        printed += shell.ripgrep("-n", "-i", *NO_TESTS, "-e", _pairs(words), ".")
    if not FEW <= len(printed) < LINES_MAX and shell.calls < SEARCHES_MAX and (names or words):
        either = "|".join(map(re.escape, names or words))
        printed += shell.ripgrep("-n", "-i", *NO_TESTS, "-e", rf"{DEFINITION}.*({either})", ".")
    _open_best(printed, [*(name.lower() for name in names), *words], shell, windows=WINDOWS)


def _pairs(words: Sequence[str]) -> str:
    """Return a pattern for two of the words in one line."""
    return "|".join(f"{first}.*{second}" for first, second in permutations(words, 2))


def _open_best(printed: Sequence[str], words: Sequence[str], shell: Shell, *, windows: int) -> None:
    """Open a window in each of the files whose printed lines and path hold most of the words."""
    places: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in printed:
        if match := re.match(r"([^:]+):(\d+):(.*)", line):
            places[match[1]].append((int(match[2]), match[3].lower()))

    def worth(file: str) -> tuple[int, int]:
        text = file.lower() + " ".join(text for _, text in places[file])
        return (sum(word in text for word in words), len(places[file]))

    for file in sorted(places, key=worth, reverse=True)[:windows]:
        at = _densest([number for number, _ in places[file]])
        shell.sed(file, at - WINDOW // 4, at + WINDOW - WINDOW // 4 - 1)


def _densest(numbers: Sequence[int]) -> int:
    """Return the first line of the window that holds most of the lines."""
    return max(numbers, key=lambda start: sum(start <= number < start + WINDOW for number in numbers))


def last_name(target: str) -> str:
    return re.split(r"[.:#/]", target)[-1]


def names_of(question: str) -> list[str]:
    """Return identifiers that the question names; of a dotted one its last name."""
    mentions = re.findall(r"`([^`]+)`", question) + re.findall(r"[A-Za-z_][\w.:-]*\w", question)
    names = [last_name(text.split("<")[0].strip("()")) for text in mentions if IDENTIFIER.search(text)]
    return [name for name in dict.fromkeys(names) if len(name) >= LETTERS_MIN and name not in NO_NAMES]


def words_of(question: str) -> list[str]:
    """Return the longest meaningful words, without their endings."""
    words = [word.lower() for word in re.findall(r"[A-Za-z]+", question)]
    stems = [stem(word) for word in words if len(word) >= LETTERS_MIN and word not in STOP_WORDS]
    return sorted(dict.fromkeys(stems), key=len, reverse=True)[:WORDS_MAX]


def stem(word: str) -> str:
    """Return the word without a plain ending, for a pattern."""
    for ending in ("ations", "ation", "ings", "ing", "ies", "ers", "ed", "es", "er", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= LETTERS_MIN:
            return word.removesuffix(ending)
    return word


def literals_of(message: str) -> list[str]:
    """Return the two longest runs of a message without likely values: numbers, quoted names,
    addresses, brackets.
    """
    text = re.sub(r"^[\w.:]*(Error|Exception):|^\([\w.]+\)|^thread '\w+' panicked:", "", message)
    text = re.sub(r"\s(Which|Where|What) .*", "", text)
    runs = re.split(r"\"[^\"]*\"|'[^']*'(?!\w)|`|\[[^\]]*\]|\S*\d\S*|:\s+\S+$|[\"]", text)
    runs = [run.strip(" .,:;") for run in runs]
    long = sorted((run for run in runs if len(run.split()) > 1), key=len, reverse=True)
    return long[:2] or sorted(runs, key=len, reverse=True)[:1]


def frames_of(trace: str) -> list[tuple[str, int]]:
    """Return paths and lines of a trace's frames in its order; the last of Python's is the
    innermost.
    """
    patterns = (
        r'File "([^"]+)", line (\d+)',
        r"\(?([\w./$-]+\.\w+):(\d+)(?::\d+)?\)?",
        r"([\w./-]+\.php)\((\d+)\)",
    )
    rows = [(match[1], int(match[2])) for pattern in patterns for match in re.finditer(pattern, trace)]
    return list(dict.fromkeys(rows))
