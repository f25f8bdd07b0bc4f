"""Import of commits into memory by the process that reads sessions, which needs no open agent; and
from git's log the commits of a session, whose tools only give hashes.
"""

import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cortex.ask.code_notes.commit_notes import CommitHistory
from cortex.settings.folders.identity import identity_of
from cortex.settings.folders.own_commits import ask_history
from cortex.settings.layers import read_project
from cortex.settings.table import Memory
from cortex.system.errors import Misconfigured
from cortex.terms.text.secrets import remove_secrets_in

#: seconds between two looks at one project: windows look themselves, and each look starts git
LOOK_S = 300.0
#: the setting with which a project refuses that its commits become notes
_SETTING = "memory.git"

#: (operation, arguments, whether it writes, project, operation id) → the memory worker's answer
Call = Callable[[str, Mapping[str, Any], bool, str, str], Awaitable[dict[str, Any]]]


class CommitFeed:
    """Imports new commits of the projects in memory. `settings`: the user's own."""

    def __init__(self, call: Call, settings: Memory) -> None:
        self._call, self._settings = call, settings
        self._histories: dict[str, tuple[CommitHistory, float]] = {}

    async def look(self, places: Mapping[str, str], stop: Callable[[], bool] = lambda: False) -> int:
        """Import the new commits of `places` (project → folder) and return their number.

        Each project is looked at once in LOOK_S. `stop` is checked before each. Raises CortexError
        when the memory worker does not answer.
        """
        brought = 0
        for project, place in places.items() if self._settings.git else ():
            if stop():
                break
            history, looked = self._histories.get(project, (None, float("-inf")))
            if time.monotonic() - looked < LOOK_S:
                continue
            history = history or CommitHistory(Path(place))
            if self._takes_commits(project, place):
                brought += await history.import_new(self._caller_for(project))
            self._histories[project] = history, time.monotonic()
        return brought

    def _caller_for(
        self, project: str
    ) -> Callable[[str, Mapping[str, Any], bool], Awaitable[dict[str, Any]]]:
        async def tell(operation: str, arguments: Mapping[str, Any], writes: bool) -> dict[str, Any]:
            return await self._call(
                operation, arguments, writes, project, str(uuid.uuid4()) if writes else ""
            )

        return tell

    def _takes_commits(self, project: str, place: str) -> bool:
        """Whether the folder still has this project, and the project does not refuse the import."""
        folder = Path(place)
        if not place or not folder.is_dir() or identity_of(folder, self._settings.remotes) != project:
            return False
        try:
            return not read_project(folder).says(_SETTING)
        except Misconfigured:
            return False


#: git's format: hash, seconds since the epoch, first line, rest; then the files
_FORMAT = "--format=%H%x00%ct%x00%s%x00%b%x00"
#: seconds and bytes of git's output, commits of one portion
ANSWER_S, ANSWER_BYTES_MAX, COMMITS_MAX = 2.0, 200_000, 20


def commits(folder: Path, parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The commits named in the parts of a session that exist in the repository of `folder`."""
    names = [name for piece in parts for name in piece["commits"]][:COMMITS_MAX]
    answers = [_commit(folder, name) for name in dict.fromkeys(names)]
    clean: list[dict[str, Any]] = remove_secrets_in([answer for answer in answers if answer])[0]
    return clean


def _commit(folder: Path, name: str) -> dict[str, Any]:
    output = ask_history(
        folder, ["log", "-1", _FORMAT, "--name-only", name, "--"], ANSWER_S, ANSWER_BYTES_MAX
    )
    fields = output.decode(errors="replace").split("\0")
    if len(fields) < 5 or not fields[0].startswith(name) or not fields[2].strip():
        return {}
    full_hash, seconds, title, body, paths = fields[:5]
    return {
        "name": full_hash,
        "at": int(seconds) * 1000,
        "title": title.strip(),
        "body": body.strip(),
        "files": [path for path in paths.split("\n") if path],
    }
