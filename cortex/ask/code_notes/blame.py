"""The commit that last changed the lines of an answer, from git's blame of HEAD. Git runs in a
thread and no answer waits for it: an answer uses the results that are there.
"""

import asyncio
import difflib
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from cortex.settings.encodings import Encodings
from cortex.settings.folders.own_commits import ask_history
from cortex.system import git

#: files of one answer that are blamed, and files with remembered results
FILES_MAX, FILES_KEPT = 4, 64
#: seconds that git has for one request: a program's exit waits for it
ANSWER_S = 0.15
#: seconds in which a file without a result is not blamed again
SILENT_S = 60.0
#: bytes of git's output for one file: some 10,000 lines
FILE_BYTES_MAX = 1 << 20
#: characters of a commit's subject: with hash, date and key in JSON some 25 tokens
SUBJECT_CHARS = 64
#: the text for lines that HEAD does not contain
NOT_COMMITTED = "not committed"
#: digits of a commit's hash in an answer
_DIGITS = 8
_HEAD_OF_LINE = re.compile(rb"([0-9a-f]{40,64}) \d+ \d+")
#: control characters that a terminal obeys, removed from subjects: the author may be anybody
_UNPRINTABLE = re.compile(r"[^\S ]|[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class _Commit:
    """A commit in an answer. `at`: seconds since 1970. `is_certain`: whether it changed the lines
    that git names it for; the first commit of a shallow clone merely contains them.
    """

    at: int
    summary: str
    is_certain: bool


@dataclass(frozen=True, slots=True)
class _File:
    """The lines of a file in HEAD, without trailing white space, and the commit of each."""

    lines: tuple[str, ...]
    commits: tuple[_Commit, ...]

    def find(self, lines: Mapping[int, str]) -> _Commit | None:
        """Return the newest commit of `lines` (number → text), if the file contains them in this
        order, all moved by the same number of lines or not at all.
        """
        wanted = {number: text.rstrip() for number, text in lines.items() if text.strip()}
        if not wanted:
            return None
        first = next(iter(wanted))
        starts = [at for at, text in enumerate(self.lines, 1) if text == wanted[first]]
        for moved in sorted((at - first for at in starts), key=abs):
            if all(self._at(number + moved) == text for number, text in wanted.items()):
                commits = (self.commits[number + moved - 1] for number in wanted)
                return max(commits, key=lambda commit: (commit.is_certain, commit.at))
        return None

    def _at(self, number: int) -> str | None:
        return self.lines[number - 1] if 0 < number <= len(self.lines) else None


class Commits:
    """Blame results for the repository around `root`, by relative path. For one event loop."""

    def __init__(self, root: Path, answer_s: float = ANSWER_S, executor: Executor | None = None) -> None:
        """`answer_s`: seconds that git has. `executor`: runs the thread that waits for git; by
        default the loop's, whose threads end before the loop does.
        """
        self._root, self._answer_s, self._executor = root, answer_s, executor
        self._lock = threading.Lock()
        self._wanted: list[str] = []
        self._reading = False
        self._head = ""
        self._shallow = False
        #: the `git.mark_of_head` from before `_head` was read
        self._mark: tuple[object, ...] = ()
        #: (HEAD, path) → its blame result, the last used at the end
        self._files: OrderedDict[tuple[str, str], _File] = OrderedDict()
        #: (HEAD, path) → monotonic time until which it is not blamed again
        self._silent: dict[tuple[str, str], float] = {}

    def begin(self, paths: Sequence[str]) -> None:
        """Start blaming the first of `paths` in a thread, unless all results are there and HEAD has
        not moved. Returns at once.
        """
        mark = git.mark_of_head(self._root)
        with self._lock:
            self._wanted = list(dict.fromkeys(paths))[:FILES_MAX]
            if self._reading or not self._wanted:
                return
            if not mark or mark != self._mark:
                self._head = ""  # until git confirms it
            elif self._head and not self._first_unknown(self._head):
                return
            self._reading = True
        asyncio.get_running_loop().run_in_executor(self._executor, self._read_wanted, mark)

    def tell(self, path: str, lines: Mapping[int, str]) -> str:
        """Return `1a2b3c4d 2026-01-31 Subject` of the commit that last changed `lines` (number →
        text) of the file; NOT_COMMITTED where HEAD's file lacks them; "" when the result is not
        there yet or never will be: no git, unknown file, shallow clone.
        """
        file = self._find(path)
        if file is None or not any(text.strip() for text in lines.values()):
            return ""
        commit = file.find(lines)
        if commit is None:
            return NOT_COMMITTED
        return commit.summary if commit.is_certain else ""

    def tell_each(self, path: str, lines: Sequence[str]) -> list[str]:
        """Return `tell` for each line of the file as it is now; [] while it has no result."""
        file = self._find(path)
        if file is None:
            return []
        texts = [line.rstrip() for line in lines]
        summaries = [NOT_COMMITTED] * len(texts)
        for old, new, size in difflib.SequenceMatcher(None, file.lines, texts).get_matching_blocks():
            commits = file.commits[old : old + size]
            summaries[new : new + size] = [commit.summary if commit.is_certain else "" for commit in commits]
        return summaries

    def knows(self, path: str) -> bool:
        """Whether the blame result of the file is there."""
        return self._find(path) is not None

    def _find(self, path: str) -> _File | None:
        with self._lock:
            return self._files.get((self._head, path)) if self._head else None

    def _read_wanted(self, mark: tuple[object, ...]) -> None:
        """Read HEAD, unless it is known, then blame the wanted files while there is time."""
        until = time.monotonic() + self._answer_s
        with self._lock:
            head = self._head
        if not head:
            command = ("rev-parse", "--is-shallow-repository", "HEAD")
            output = ask_history(self._root, command, self._answer_s)
            shallow, _, head = output.decode(errors="replace").strip().partition("\n")
            with self._lock:
                self._head, self._shallow, self._mark = head, shallow == "true", mark
        while path := self._next_path(head, until):
            file = self._blame(head, path, until - time.monotonic())
            self._store((head, path), file)

    def _next_path(self, head: str, until: float) -> str:
        """Return the next file to blame; "" when there is none, and the thread ends."""
        with self._lock:
            if head and time.monotonic() < until and (path := self._first_unknown(head)):
                return path
            self._reading = False
            return ""

    def _first_unknown(self, head: str) -> str:
        """Return the first file to blame without a result, or "". The caller holds the lock."""
        now = time.monotonic()
        for path in self._wanted:
            key = head, path
            if key in self._files:
                self._files.move_to_end(key)
            elif self._silent.get(key, now) <= now:
                return path
        return ""

    def _store(self, key: tuple[str, str], file: _File | None) -> None:
        with self._lock:
            if file is None:
                now = time.monotonic()
                self._silent = {
                    silent_key: until for silent_key, until in self._silent.items() if until > now
                }
                self._silent[key] = now + SILENT_S
                return
            self._files[key] = file
            if len(self._files) > FILES_KEPT:
                self._files.popitem(last=False)

    def _blame(self, head: str, path: str, answer_s: float) -> _File | None:
        """Blame one file; None when git does not know it, is late, or prints too much.

        Blames HEAD, so that no file of the work tree is read: reading one may run a filter.
        """
        command = ("blame", "--no-textconv", "--porcelain", head, "--", path)
        output = ask_history(self._root, command, max(0.0, answer_s), FILE_BYTES_MAX)
        if not output or len(output) >= FILE_BYTES_MAX:
            return None
        try:
            pairs = list(_parse_blame(output, shallow=self._shallow))
        except (ValueError, OverflowError, OSError):
            return None  # an impossible date
        read = Encodings(str(self._root)).read(path, b"\n".join(raw for raw, _ in pairs))
        lines = tuple(map(str.rstrip, read.text.split("\n"))) if read is not None else ()
        commits = tuple(commit for _, commit in pairs)
        return _File(lines, commits) if len(lines) == len(commits) else None


def _parse_blame(output: bytes, *, shallow: bool) -> Iterator[tuple[bytes, _Commit]]:
    """Yield the lines of `git blame --porcelain` and their commits, described at the first line."""
    commits: dict[bytes, _Commit] = {}
    name, fields = b"", dict[bytes, bytes]()
    for line in output.split(b"\n"):
        if line.startswith(b"\t"):
            if name not in commits:
                commits[name] = _parse_commit(name, fields, shallow=shallow)
            yield line[1:], commits[name]
            name, fields = b"", {}
        elif not name and (header := _HEAD_OF_LINE.match(line)):
            name = header[1]
        else:
            field, _, value = line.partition(b" ")
            fields[field] = value


def _parse_commit(name: bytes, fields: Mapping[bytes, bytes], *, shallow: bool) -> _Commit:
    at = int(fields.get(b"committer-time", b"0") or 0)
    subject = " ".join(_UNPRINTABLE.sub(" ", fields.get(b"summary", b"").decode(errors="replace")).split())
    if len(subject) > SUBJECT_CHARS:
        subject = f"{subject[: SUBJECT_CHARS - 1].rstrip()}…"
    day = time.strftime("%Y-%m-%d", time.gmtime(at))
    summary = f"{name[:_DIGITS].decode()} {day} {subject}".rstrip()
    return _Commit(at, summary, is_certain=not (shallow and b"boundary" in fields))
