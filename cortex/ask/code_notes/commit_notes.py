"""The import of a project's last commits into memory, in the background: a few at a time, each
once.
"""

import asyncio
import contextlib
import logging
import os
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cortex.settings.folders.own_commits import ask_history
from cortex.system.errors import CortexError

log = logging.getLogger(__name__)

#: commits that are imported
COMMITS = 1_000
#: commits in one write: some 5 ms of the memory worker
SLICE = 16
#: seconds between two checks for new commits
LOOK_S = 30.0
#: bytes of git's output for one slice
SLICE_BYTES_MAX = 4 << 20
#: seconds that git has for one answer
ANSWER_S = 10.0
#: separators of commits and of their fields; no message contains them
_RECORD, _FIELD = "\x1e", "\x1f"
_HASH = re.compile(r"[0-9a-f]{40,64}")

#: calls a memory operation with its arguments; the last argument: whether it writes
Tell = Callable[[str, Mapping[str, Any], bool], Awaitable[dict[str, Any]]]


class CommitHistory:
    """The commits of the repository around the folder `root`. Use it in one event loop."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._task: asyncio.Task[None] | None = None
        self._looked = float("-inf")
        self._head = ""

    def look(self, tell: Tell) -> None:
        """Start importing new commits, unless an import runs or the last check was just now."""
        if time.monotonic() - self._looked < LOOK_S or (self._task and not self._task.done()):
            return
        self._looked = time.monotonic()
        self._task = asyncio.create_task(self._import_quietly(tell))

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _import_quietly(self, tell: Tell) -> None:
        with contextlib.suppress(CortexError):  # the next check tries again
            await self.import_new(tell)

    async def import_new(self, tell: Tell) -> int:
        """Import commits that memory lacks; return their number. Raises the errors of `tell`."""
        listed = await self._run_git("log", f"-{COMMITS}", "--no-merges", "--format=%H")
        commits = [line for line in listed.split("\n") if _HASH.fullmatch(line)]
        if not commits or commits[0] == self._head:
            return 0
        unknown = await tell("unknown_commits", {"commits": commits}, False)
        new = [commit for commit in unknown["commits"] if _HASH.fullmatch(commit)]
        for at in range(0, len(new), SLICE):
            if some := await self._read_commits(new[at : at + SLICE]):
                await tell("take_commits", {"commits": some}, True)
        self._head = commits[0]
        return len(new)

    async def _read_commits(self, commits: Sequence[str]) -> list[dict[str, Any]]:
        answer = await self._run_git(
            "log", "--no-walk=unsorted", f"--format={_RECORD}%H{_FIELD}%ct{_FIELD}%B{_FIELD}",
            "--name-only", "-z", "--relative", "--no-ext-diff", "--no-textconv", *commits,
        )  # fmt: skip
        return list(_parse_commits(answer))

    async def _run_git(self, *command: str) -> str:
        raw = await asyncio.to_thread(ask_history, self._root, command, ANSWER_S, SLICE_BYTES_MAX)
        return os.fsdecode(raw).encode("utf-8", "replace").decode()


def _parse_commits(answer: str) -> Iterator[dict[str, Any]]:
    """Yield {"commit", "message", "at": seconds, "files"} of each record."""
    for record in answer.split(_RECORD)[1:]:
        commit, at, message, names = [*record.split(_FIELD, 3), "", "", ""][:4]
        if _HASH.fullmatch(commit) and at.isdecimal():
            files = [name.lstrip("\n") for name in names.split("\0") if name.strip("\n")]
            yield {"commit": commit, "message": message.strip(), "at": int(at), "files": files}
