"""What was asked of a project, kept beside its index for 30 days and sent nowhere: which tool, how
long it took, what the answer took of an agent's context, and questions that found nothing.

A line of JSON for each call, in a file for each day (UTC). `server.stats: false` keeps nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import orjson

from cortex.front.empty_answers import count_of
from cortex.settings.config import Config
from cortex.settings.home import USAGE
from cortex.system import files
from cortex.terms.spelling import read_file_lines

#: days that are kept
DAYS = 30
#: bytes of one day: some 40 000 calls, more are not noted
DAY_BYTES_MAX = 8 << 20
#: seconds after a call in which others are gathered, so that the answer does not wait for the disk
GATHER_S = 1.0
#: calls that wait to be written at most
WAITING_MAX = 256
#: bytes that count as one token, as for the bounds of answers
TOKEN_BYTES = 4
#: characters that are kept of a question that found nothing
QUESTION_CHARS_MAX = 200
#: files of one answer that are looked at for their size
FILES_MAX = 50
#: what event streams ask for by themselves, over and over: nobody waits for it
UNASKED = frozenset(("memory_changes",))
#: arguments that are the question, the first that is given
_QUESTIONS = ("query", "pattern", "target", "symbol")
#: the paths that an answer names, wherever in it. A quote within a string has a backslash before
#: it: what looks like this in a text that is shown is none. It begins with a byte, for which
#: texts are searched six times as fast
_PATHS = re.compile(rb'"(?<!\\")(file(?:_path)?|path|at|defined|from)":("(?:[^"\\]|\\.)*+")')
#: keys of places, which end with their line
_PLACES = frozenset((b"at", b"defined", b"from"))
_NAME = re.compile(USAGE + r"(\d{4}-\d\d-\d\d)\.jsonl")


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call. `at` is in seconds since 1970; `files` are the tokens of the files that the answer
    names, read as a whole; `question` is only there where nothing was found.
    """

    tool: str
    at: int
    ms: float
    code: str = "ok"
    tokens: int = 0
    files: int = 0
    question: str = ""


class Usage:
    """Notes the calls of one front. Use it in one event loop, and flush it at the end."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._waiting: list[tuple[Call, Mapping[str, Any], Any]] = []
        self._timer: asyncio.TimerHandle | None = None

    def note(self, tool: str, seconds: float, code: str, arguments: Any, answer: Any) -> None:
        """`answer` is None where there is none; it is looked at later."""
        if not self._config.server.stats or tool in UNASKED or len(self._waiting) >= WAITING_MAX:
            return
        call = Call(tool, int(time.time()), round(1000 * seconds, 1), code)
        self._waiting.append((call, arguments or {}, answer))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_S, self.flush)

    def flush(self) -> None:
        """Write what waits. A disk that is full costs these notes, and nothing else."""
        if self._timer is not None:
            self._timer.cancel()
        waiting, self._waiting, self._timer = self._waiting, [], None
        if not waiting:
            return
        lines = b"".join(
            msgspec.json.encode(_with_sizes(self._config.folder, *call_record)) + b"\n"
            for call_record in waiting
        )
        place = self._config.run_dir / f"{USAGE}{_today().isoformat()}.jsonl"
        with contextlib.suppress(OSError):
            if not os.path.lexists(place):
                prune(self._config)
            files.count_up(place, lines, DAY_BYTES_MAX)


def read_calls(config: Config, days: int = DAYS) -> Iterator[Call]:
    """The calls of the last days, today's among them, the oldest first."""
    for day, path in _days(config):
        if day > _today() - dt.timedelta(days=days):
            with contextlib.suppress(OSError):
                for line in files.read_ours(path, DAY_BYTES_MAX).splitlines():
                    with contextlib.suppress(msgspec.DecodeError):  # of a process that was killed
                        yield msgspec.json.decode(line, type=Call)


def prune(config: Config) -> None:
    """Remove what is older than DAYS. Raises OSError."""
    for day, path in _days(config):
        if day <= _today() - dt.timedelta(days=DAYS):
            files.remove(path)


def _days(config: Config) -> list[tuple[dt.date, Path]]:
    try:
        names = files.names(config.run_dir)
    except OSError:
        return []
    matches = filter(None, map(_NAME.fullmatch, sorted(names)))
    return [(dt.date.fromisoformat(match[1]), config.run_dir / match[0]) for match in matches]


def _today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


def _with_sizes(root: Path, call: Call, arguments: Mapping[str, Any], answer: Any) -> Call:
    if answer is None:
        return call
    raw = orjson.dumps(answer, default=str, option=orjson.OPT_NON_STR_KEYS)
    paths = list(dict.fromkeys(_answer_paths(raw)))[:FILES_MAX]
    nothing = count_of(answer) == 0
    return msgspec.structs.replace(
        call,
        tokens=len(raw) // TOKEN_BYTES,
        files=sum(_size(f"{root}/{name}") for name in paths) // TOKEN_BYTES,
        question=_question(arguments) if nothing else "",
    )


def _answer_paths(raw: bytes) -> Iterator[str]:
    """The paths in an answer, as JSON."""
    for key, text in dict.fromkeys(_PATHS.findall(raw)):
        place = str(orjson.loads(text))
        yield read_file_lines(place).path if key in _PLACES else place


def _size(path: str) -> int:
    try:
        file_stat = os.lstat(path)
    except (OSError, ValueError):
        return 0
    return file_stat.st_size if stat.S_ISREG(file_stat.st_mode) else 0


def _question(arguments: Mapping[str, Any]) -> str:
    values: Iterable[Any] = (arguments.get(name) for name in _QUESTIONS)
    return next((value[:QUESTION_CHARS_MAX] for value in values if isinstance(value, str)), "")
