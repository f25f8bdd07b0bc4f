"""The count of the calls to a project: each call is counted once, here, for all that show calls.

The listener of a server (metrics, the page) hears of every call. For `cortex stats` each is a
record: tool, duration, tokens of the answer, questions without a hit. A record is one line of JSON,
in one file a day (UTC) next to the index, for 30 days. The records are sent nowhere.
`server.stats: false` turns them off.
"""

import asyncio
import contextlib
import datetime as dt
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import orjson

from cortex.settings.config import Config
from cortex.settings.folders.home import USAGE
from cortex.system import files
from cortex.system.errors import CortexError
from cortex.terms.budget import TOKEN_BYTES
from cortex.terms.text.spelling import read_file_lines

#: days after which a record is removed
DAYS = 30
#: maximum of bytes of one day: some 40 000 calls; further ones are not recorded
DAY_BYTES_MAX = 8 << 20
#: seconds from the first unwritten call to the write: answers do not wait for the disk
GATHER_S = 1.0
#: maximum of unwritten calls; further ones are not recorded
WAITING_MAX = 256
#: maximum of recorded characters of a question without a hit
QUESTION_CHARS_MAX = 200
#: maximum of files of one answer whose size is read
FILES_MAX = 50
#: calls that event streams repeat by themselves: not recorded
UNASKED = frozenset(("memory_changes",))
#: agent whose calls are not recorded: people browse the page, and its calls hold words of files
PAGE = "page"
#: arguments with the question; the first that a call has counts
_QUESTIONS = ("query", "pattern", "target", "symbol")
#: fields of an answer with a path, at any depth. In a quoted text every quote has a backslash, so
#: the lookbehind excludes it. The pattern begins with a literal byte: matching is six times as fast
_PATHS = re.compile(rb'"(?<!\\")(file(?:_path)?|path|at|defined|from)":("(?:[^"\\]|\\.)*+")')
#: fields with a place: a path and a line
_PLACES = frozenset((b"at", b"defined", b"from"))
_NAME = re.compile(USAGE + r"(\d{4}-\d\d-\d\d)\.jsonl")


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """Record of one call. `at`: seconds since 1970; `ms`: duration; `tokens`: of the answer;
    `files`: of all files that the answer names, for comparison; `question`: only without a hit.
    """

    tool: str
    at: int
    ms: float
    code: str = "ok"
    tokens: int = 0
    files: int = 0
    question: str = ""


class CountedCall:
    """A running call; its `answer` is set at its end."""

    answer: Any = None


class Usage:
    """Counter of one front's calls. Use it in one event loop, and flush it at the end."""

    def __init__(self, config: Config, listen: Callable[[str, str, float], None] | None = None) -> None:
        """`listen`: gets the tool, the outcome ("ok", or an error's code) and the seconds."""
        self._config, self._listen = config, listen
        self._waiting: list[tuple[Call, Mapping[str, Any], Any]] = []
        self._timer: asyncio.TimerHandle | None = None

    @contextlib.contextmanager
    def count(self, tool: str, arguments: Any, *, agent: str = "") -> Iterator[CountedCall]:
        """Count the call in the block; errors but CortexError are "deadline" or "failed"."""
        call, began, code = CountedCall(), time.monotonic(), "ok"
        try:
            yield call
        except BaseException as error:
            deadline = isinstance(error, TimeoutError)
            code = error.code if isinstance(error, CortexError) else "deadline" if deadline else "failed"
            raise
        finally:
            seconds = time.monotonic() - began
            if self._listen is not None:
                self._listen(tool, code, seconds)
            self.note(tool, seconds, code, arguments, call.answer, agent=agent)

    def note(
        self, tool: str, seconds: float, code: str, arguments: Any, answer: Any, *, agent: str = ""
    ) -> None:
        """Record a call for `cortex stats`; `flush` measures `answer`, None after an error."""
        if not self._config.server.stats or tool in UNASKED or agent == PAGE:
            return
        if len(self._waiting) >= WAITING_MAX:
            return
        call = Call(tool, int(time.time()), round(1000 * seconds, 1), code)
        self._waiting.append((call, arguments or {}, answer))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_S, self.flush)

    def flush(self) -> None:
        """Write the gathered records; on a full disk they are lost, without an error."""
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
    """Yield the records of the last `days` days, today included, the oldest first."""
    for day, path in _days(config):
        if day > _today() - dt.timedelta(days=days):
            with contextlib.suppress(OSError):
                for line in files.read_ours(path, DAY_BYTES_MAX).splitlines():
                    with contextlib.suppress(msgspec.DecodeError):  # cut line of a killed process
                        yield msgspec.json.decode(line, type=Call)


def prune(config: Config) -> None:
    """Remove the files older than DAYS. Raises OSError."""
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
    from cortex.front.empty_answers import count_of  # needs much of the tools; most commands call none

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
    """Yield the paths in an answer, which is JSON."""
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
