"""Reader of agents' session files: sends new exchanges to the memory worker while sessions run.

It calls memory as any front does, and keeps no set alive.
"""

import asyncio
import contextlib
import hashlib
import logging
import os
import platform
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cortex.front.feeds import commit_feed
from cortex.front.feeds.commit_feed import Call, CommitFeed
from cortex.memory.transcripts import consent
from cortex.memory.transcripts.formats import spool, spool_reader
from cortex.memory.transcripts.formats.reader import (
    FORMATS,
    Format,
    Portion,
    Position,
    folder_of,
    read_portion,
)
from cortex.settings.folders.branches import head_of
from cortex.settings.folders.home import project_config
from cortex.settings.folders.identity import identity_of
from cortex.settings.layers import read_project
from cortex.settings.table import Memory
from cortex.system import files
from cortex.system.errors import BadRequest, CortexError, Misconfigured

log = logging.getLogger(__name__)

#: seconds between two looks at all files: minimum and maximum; and the factor to the processor time
#: of the last look: looks without news take at most 2 in 1 000 of a core
PAUSE_S, PAUSE_MAX_S, PAUSE_FACTOR = 2.0, 60.0, 500
#: minimum of seconds between two looks once sessions were quiet for the second number of seconds
REST_S, RESTS_AFTER_S = 10.0, 60.0
#: seconds without news after which a session's hand-over is written; age in milliseconds of lines
#: that tell of the present branch
RESTED_S, JUST_NOW_MS = 30.0, 15 * 60_000
#: events of hooks after which a session may be continued by another
_ENDS = ("session-end", "pre-compact")
#: the file with the id of this machine
_MACHINE = "/etc/machine-id"
#: the setting with which a project refuses that its sessions are read
_SETTING = "memory.sessions"


def workstation() -> str:
    """Return 8 hex digits that identify this machine."""
    try:
        machine = files.read_plain(_MACHINE, 256).strip()
    except OSError:
        machine = b""
    return hashlib.sha256(platform.node().encode() + b"\0" + machine).hexdigest()[:8]


@dataclass
class _File:
    """State of one session file.

    `place`: position of the next read; `stamp`: size and modification time at the last read;
    `folder`: working folder of the session; `committing`: its calls of git that have no result yet.
    """

    place: Position = field(default_factory=Position)
    stamp: tuple[int, int] = (-1, -1)
    folder: str = ""
    committing: set[str] = field(default_factory=set)
    #: whether memory deleted the session for good: nothing more of it is sent
    forgotten: bool = False
    #: the project of a session from before memory was used in it, which nobody allowed to read
    past_of: str = ""
    #: the last portion without its contents, its project and when it was sent (monotonic), until
    #: the hand-over of the session is up to date
    unhanded: tuple[dict[str, Any], str, float] | None = None


class Follower:
    """Reader of all session files, and of the spool of hooks.

    `folders`: format → folder of its files, which may appear later; `settings`: the user's own;
    `spool`: folder of the spool; `unpack`: decrypts its files; `memory_folder`: the folder with the
    person's consent to read past sessions.
    """

    def __init__(
        self,
        call: Call,
        settings: Memory,
        folders: Mapping[str, Path],
        spool: Path | None = None,
        unpack: spool_reader.Unpack = bytes,
        *,
        memory_folder: Path | None = None,
    ) -> None:
        self._call, self._settings = call, settings
        self._memory_folder, self._reads_past = memory_folder, False
        self._since: Mapping[str, int] = {}
        self._folders, self._spool, self._unpack = folders, spool, unpack
        self._workstation = workstation()
        self._files: dict[str, _File] = {}
        self._projects: Mapping[str, str] = {}
        self._commit_feed = CommitFeed(call, settings)
        self._has_positions = False
        #: sessions that ended or are compacted
        self._ended: set[str] = set()

    def has_source(self) -> bool:
        """Whether there is anything to read yet."""
        places = (*self._folders.values(), self._spool)
        return self._settings.git or any(place is not None and place.is_dir() for place in places)

    async def look(self, stop: Callable[[], bool] = lambda: False) -> int:
        """Send what was added to all files and the spool; return the number of portions taken.

        Raises CortexError when the memory worker does not answer; the next look continues there.
        """
        await self._load_positions()
        taken = 0
        for form in FORMATS:
            folder = self._folders.get(form.NAME)
            for path in form.paths(_resolved(folder)) if folder else ():
                if stop():
                    return taken
                taken += await self._read(path, form, stop)
        taken += await self._take_spool(self._spool) if self._spool else 0
        await self._hand_over()
        return taken + await self._commit_feed.look(self._projects, stop)

    async def _take_spool(self, folder: Path) -> int:
        """Send the spooled events of sessions without a file, and remove what was handled."""
        sessions: dict[str, list[tuple[int, spool_reader.Event]]] = {}
        written: dict[str, list[Path]] = {}
        for path, number, event in spool_reader.waiting(folder, unpack=self._unpack):
            session = "" if event is None or self._has_file(event) else event.session
            if event is not None and event.event in _ENDS:
                self._ended.add(event.session)
            written.setdefault(session, []).append(path)
            if event is not None and session:
                sessions.setdefault(session, []).append((number, event))
        taken = 0
        for session, paths in written.items():
            if session:
                if not await self._take_events(sessions[session]):
                    continue
                taken += 1
            for path in paths:
                with contextlib.suppress(OSError):
                    files.remove(path)
        if written:
            with contextlib.suppress(OSError):
                spool.count(str(folder))
        return taken

    async def _hand_over(self) -> None:
        """Write the hand-over of each session that ended, is compacted, or rests."""
        now, ended = time.monotonic(), self._ended
        self._ended = set()
        for file in self._files.values():
            if file.unhanded is None:
                continue
            payload, project, sent_at = file.unhanded
            if payload["session"]["source_id"].partition("/")[0] in ended or now - sent_at >= RESTED_S:
                file.unhanded = None
                await self._call("hand_over", {"portion": payload}, True, project, str(uuid.uuid4()))

    def _has_file(self, event: spool_reader.Event) -> bool:
        """Whether the session has a file that is read: it has more than the events of hooks."""
        path = Path(os.path.realpath(event.transcript or "/"))
        return (
            any(path.is_relative_to(_resolved(folder)) for folder in self._folders.values())
            and path.is_file()
        )

    async def _take_events(self, events: list[tuple[int, spool_reader.Event]]) -> bool:
        """Send the events of one session; return whether they can be removed."""
        file = self._files.setdefault(spool_reader.FILE + events[0][1].session, _File())
        file.folder = events[0][1].cwd
        project = self._project_of_folder(file.folder)
        return not project or await self._submit(spool_reader.portion_of(events, file.place), file, project)

    async def _load_positions(self) -> None:
        """Load the projects whose sessions are read, and the first time the files' positions."""
        self._note_consent()
        arguments: dict[str, object] = {} if self._has_positions else {"workstation": self._workstation}
        arguments["unread"] = dict(Counter(file.past_of for file in self._files.values() if file.past_of))
        answer = await self._call("followed", arguments, False, "", "")
        for path, place in answer["files"].items():
            self._files.setdefault(path, _File()).place = Position(*place)
        self._projects, self._has_positions = answer["projects"], True
        self._since = answer["since"]

    def _note_consent(self) -> None:
        """Look whether a person allowed to read past sessions; if so, look at them again."""
        folder = self._memory_folder
        self._reads_past = self._settings.sessions == "all" or (
            folder is not None and consent.consent(folder) == consent.YES
        )
        for file in self._files.values() if self._reads_past else ():
            if file.past_of:
                file.past_of, file.stamp = "", (-1, -1)

    def _is_past(self, info: os.stat_result, file: _File, project: str) -> bool:
        """Whether nothing of the session is stored, and it ended before memory was used."""
        ended_ms = info.st_mtime_ns // 1_000_000
        return not (self._reads_past or file.place.offset) and ended_ms < self._since.get(project, 0)

    async def _read(self, path: Path, form: Format, stop: Callable[[], bool]) -> int:
        file = self._files.setdefault(str(path), _File())
        taken = 0
        try:
            info = os.lstat(path)
            if file.forgotten or file.stamp == (info.st_size, info.st_mtime_ns):
                return 0
            file.folder = file.folder or folder_of(path, form)
            project = self._project_of_folder(file.folder)
            if not file.folder:  # no folder yet: look again when the file grows
                file.stamp = (info.st_size, info.st_mtime_ns)
            file.past_of = project if project and self._is_past(info, file, project) else ""
            if file.past_of:
                file.stamp = (info.st_size, info.st_mtime_ns)
            if not project or file.past_of:
                return 0
            while portion := read_portion(path, form, file.place, file.committing):
                if not await self._submit(portion, file, project):
                    return taken
                taken += 1
                if not portion.more or file.forgotten or stop():
                    break
            if not stop():
                file.stamp = (info.st_size, info.st_mtime_ns)
        except OSError as error:  # deleted, or not readable: the next look tries again
            log.info("%s cannot be read: %s", path, error)
        return taken

    async def _submit(self, portion: Portion, file: _File, project: str) -> bool:
        commits = commit_feed.commits(Path(file.folder), portion.parts)
        payload = asdict(portion) | {"commits": commits} | _place_of(file.folder, portion)
        payload["session"] |= {"workstation": self._workstation}
        payload["session"]["project_path"] = payload["session"]["project_path"] or file.folder
        # the same portion has the same number in every process, so that it is stored once
        number = uuid.uuid5(uuid.NAMESPACE_URL, f"{portion.session['file']}\0{portion.place}\0{portion.anew}")
        try:
            answer = await self._call("take_session", {"portion": payload}, True, project, str(number))
        except BadRequest as error:  # one session that cannot be stored must not stop the others
            log.warning("%s is left out: %s", portion.session["file"], error)
            answer = {"taken": True, "forgotten": True}
        if not answer["taken"]:
            # the store has another position for this file: load positions again at the next look
            file.place, self._has_positions = Position(), False
            return False
        file.place, file.forgotten = portion.place, answer.get("forgotten", False)
        if not file.forgotten:
            file.unhanded = payload | {"parts": [], "commits": []}, project, time.monotonic()
        odd = {name: count for name, count in portion.counts.items() if count and name != "known"}
        if odd:
            log.info("%s: lines that were left out: %s", portion.session["file"], odd)
        return True

    def _project_of_folder(self, folder_name: str) -> str:
        """Return the project of a folder, "" if its sessions are not read."""
        if not os.path.isabs(folder_name):
            return ""
        folder = Path(folder_name)
        project = identity_of(folder, self._settings.remotes)
        wanted = self._settings.sessions == "all" or project in self._projects
        return project if wanted and not refuses_reading(folder) else ""


def _root_of(folder: str) -> str:
    """Return the nearest folder with `.git`, upwards from `folder`, else `folder`; "" for ""."""
    path = Path(folder)
    return (
        str(next((root for root in (path, *path.parents) if (root / ".git").exists()), path))
        if folder
        else ""
    )


def _place_of(folder: str, portion: Portion) -> dict[str, str]:
    """The root of a session's folder, and its branch and commit if the portion was just written."""
    root = _root_of(folder)
    if not root or time.time() * 1_000 - portion.session["last_at"] > JUST_NOW_MS:
        return {"root": root}
    head = head_of(Path(root))
    return {"root": root, "branch": head.branch, "commit": head.commit}


def refuses_reading(folder: Path) -> bool:
    """Whether a folder's project refuses reading of sessions; unreadable settings refuse it."""
    for root in (folder, *folder.parents):
        if project_config(root).is_file():
            try:
                return read_project(root).says(_SETTING)
            except Misconfigured:
                return True
        if (root / ".git").exists():
            break
    return False


def session_folders(environ: Mapping[str, str], home: Path) -> dict[str, Path]:
    """Return format → folder of its session files, which need not exist."""
    return {form.NAME: form.folder(home, environ) for form in FORMATS}


def _resolved(folder: Path) -> Path:
    """The folder without symbolic links, so that each file has one name."""
    return Path(os.path.realpath(folder))


async def follow(follower: Follower, stop: asyncio.Event) -> None:
    """Repeat `follower.look` until `stop`, and wait while there is nothing to read."""
    last_read = time.monotonic()
    while not stop.is_set():
        if not follower.has_source():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), PAUSE_MAX_S)
            continue
        # processor time: waiting for a worker that is starting costs nothing
        began, taken = time.process_time(), 0
        try:
            taken = await follower.look(stop.is_set)
        except CortexError as error:  # the worker is starting, or is replaced
            log.info("sessions wait: %s", error)
        now = time.monotonic()
        last_read = now if taken else last_read
        pause_s = pause(time.process_time() - began if not taken else 0.0, now - last_read)
        try:
            await asyncio.wait_for(stop.wait(), pause_s)
        except TimeoutError:
            continue


def pause(spent_s: float, quiet_s: float) -> float:
    """Return the seconds until the next look.

    `spent_s`: processor time of the last look, 0 if it had news; `quiet_s`: seconds without news.
    """
    least_s = PAUSE_S if quiet_s < RESTS_AFTER_S else REST_S
    return min(PAUSE_MAX_S, max(least_s, PAUSE_FACTOR * spent_s))
