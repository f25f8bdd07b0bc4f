"""Reads sessions with agents as they go on, and hands what was said to the owner of the store. Asks
as any front does, and keeps no set alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import platform
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from cortex.front.commit_feed import Call, Histories
from cortex.memory.transcripts import session_commits, spool, spool_reader
from cortex.memory.transcripts.reader import (
    FORMATS,
    Format,
    Portion,
    Position,
    folder_of,
    read_portion,
)
from cortex.settings import config as configuration
from cortex.settings.home import project_config
from cortex.settings.identity import identity_of
from cortex.settings.table import Memory
from cortex.system import files
from cortex.system.errors import CortexError, Misconfigured

log = logging.getLogger(__name__)

#: seconds between two looks at all files, at least and at most; and how many times as long as the
#: last look took: reading for nobody takes no more than 2 in 1 000 of a core
PAUSE_S, PAUSE_MAX_S, PAUSE_FACTOR = 2.0, 60.0, 500
#: seconds between two looks, at least, when nothing was said for so many
REST_S, RESTS_AFTER_S = 10.0, 60.0
#: the file that says which machine this is
_MACHINE = "/etc/machine-id"
#: the setting by which a project says that its sessions are not read
_SETTING = "memory.sessions"


def workstation() -> str:
    """8 hex digits that name this machine."""
    try:
        machine = files.read_plain(_MACHINE, 256).strip()
    except OSError:
        machine = b""
    return hashlib.sha256(platform.node().encode() + b"\0" + machine).hexdigest()[:8]


@dataclass
class _File:
    """What is known of one file: how far it was read, how it was then, and whose it is."""

    place: Position = field(default_factory=Position)
    seen: tuple[int, int] = (-1, -1)
    folder: str = ""
    committing: set[str] = field(default_factory=set)
    #: whether it was forgotten for good: none of it is told again
    forgotten: bool = False


class Follower:
    """`folders`: format → where its files are; `settings`: the person's own."""

    def __init__(
        self,
        call: Call,
        settings: Memory,
        folders: Mapping[str, Path],
        spool: Path | None = None,
        unpack: spool_reader.Unpack = bytes,
    ) -> None:
        self._call, self._settings = call, settings
        self._folders, self._spool, self._unpack = folders, spool, unpack
        self._workstation = workstation()
        self._files: dict[str, _File] = {}
        self._projects: Mapping[str, str] = {}
        self._histories = Histories(call, settings)
        self._told = False

    async def look(self, stop: Callable[[], bool] = lambda: False) -> int:
        """Read what was added to all files since; how many portions were taken. Raises CortexError
        when the memory worker does not answer; the next look goes on there.
        """
        await self._learn()
        taken = 0
        for form in FORMATS:
            folder = self._folders.get(form.NAME)
            for path in form.paths(folder) if folder else ():
                if stop():
                    return taken
                taken += await self._read(path, form, stop)
        taken += await self._take_spool(self._spool) if self._spool else 0
        return taken + await self._histories.look(self._projects, stop)

    async def _take_spool(self, folder: Path) -> int:
        """Take what hooks wrote down of sessions that have no file here; all of it goes then."""
        sessions: dict[str, list[tuple[int, spool_reader.Event]]] = {}
        written: dict[str, list[Path]] = {}
        for path, number, event in spool_reader.waiting(folder, unpack=self._unpack):
            session = "" if event is None or self._has_file(event) else event.session
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

    def _has_file(self, event: spool_reader.Event) -> bool:
        """Whether the session has a file that is read: it tells more."""
        path = Path(os.path.realpath(event.transcript or "/"))
        return any(path.is_relative_to(folder) for folder in self._folders.values()) and path.is_file()

    async def _take_events(self, events: list[tuple[int, spool_reader.Event]]) -> bool:
        """Hand in the events of one session; whether nothing is to be done about them any more."""
        known = self._files.setdefault(spool_reader.FILE + events[0][1].session, _File())
        known.folder = events[0][1].cwd
        project = self._whose(known.folder)
        return not project or await self._hand_in(
            spool_reader.portion_of(events, known.place), known, project
        )

    async def _learn(self) -> None:
        """Whose sessions are read, and at the first time how far."""
        asked = {} if self._told else {"workstation": self._workstation}
        told = await self._call("followed", asked, False, "", "")
        for path, place in told["files"].items():
            self._files.setdefault(path, _File()).place = Position(*place)
        self._projects, self._told = told["projects"], True

    async def _read(self, path: Path, form: Format, stop: Callable[[], bool]) -> int:
        known = self._files.setdefault(str(path), _File())
        taken = 0
        try:
            info = os.lstat(path)
            if known.forgotten or known.seen == (info.st_size, info.st_mtime_ns):
                return 0
            project = self._project_of(path, form, known)
            if not known.folder:  # until it says more
                known.seen = (info.st_size, info.st_mtime_ns)
            if not project:
                return 0
            while portion := read_portion(path, form, known.place, known.committing):
                if not await self._hand_in(portion, known, project):
                    return taken
                taken += 1
                if not portion.more or known.forgotten or stop():
                    break
            if not stop():
                known.seen = (info.st_size, info.st_mtime_ns)
        except OSError as error:  # gone, or not ours to read: the next look tells
            log.info("%s cannot be read: %s", path, error)
        return taken

    async def _hand_in(self, portion: Portion, known: _File, project: str) -> bool:
        commits = session_commits.commits(Path(known.folder), portion.parts)
        given = asdict(portion) | {"commits": commits, "root": _root_of(known.folder)}
        given["session"] |= {"workstation": self._workstation}
        given["session"]["project_path"] = given["session"]["project_path"] or known.folder
        # the same portion has the same number, in whichever process it is handed in again
        number = uuid.uuid5(uuid.NAMESPACE_URL, f"{portion.session['file']}\0{portion.place}\0{portion.anew}")
        told = await self._call("take_session", {"portion": given}, True, project, str(number))
        if not told["taken"]:
            # the store is elsewhere than we believe, and says where with the next look
            known.place, self._told = Position(), False
            return False
        known.place, known.forgotten = portion.place, told.get("forgotten", False)
        odd = {name: count for name, count in portion.counts.items() if count and name != "known"}
        if odd:
            log.info("%s: lines that were left out: %s", portion.session["file"], odd)
        return True

    def _project_of(self, path: Path, form: Format, known: _File) -> str:
        """Whose session a file is, "" while it is not read."""
        known.folder = known.folder or folder_of(path, form)
        return self._whose(known.folder)

    def _whose(self, named: str) -> str:
        """The project of a folder whose sessions are read, "" for one whose are not."""
        if not os.path.isabs(named):
            return ""
        folder = Path(named)
        project = identity_of(folder, self._settings.remotes)
        wanted = self._settings.sessions == "all" or project in self._projects
        return project if wanted and not is_off(folder) else ""


def _root_of(folder: str) -> str:
    """The nearest folder above with `.git`, else the folder itself; "" for none."""
    path = Path(folder)
    return (
        str(next((root for root in (path, *path.parents) if (root / ".git").exists()), path))
        if folder
        else ""
    )


def is_off(folder: Path) -> bool:
    """Whether the project that a folder is in says that its sessions are not read. One whose file
    cannot be understood says nothing that we could go against: they are not read.
    """
    for root in (folder, *folder.parents):
        if project_config(root).is_file():
            try:
                return configuration.read_project(root).says(_SETTING)
            except Misconfigured:
                return True
        if (root / ".git").exists():
            break
    return False


def places(environ: Mapping[str, str], home: Path) -> dict[str, Path]:
    """Format → where its files are, of those that are there; a person's own links lead there."""
    found = {form.NAME: Path(os.path.realpath(form.folder(home, environ))) for form in FORMATS}
    return {name: folder for name, folder in found.items() if folder.is_dir()}


async def follow(follower: Follower, stop: asyncio.Event) -> None:
    """Look again and again until `stop`."""
    said = time.monotonic()
    while not stop.is_set():
        # of our own time: waiting for a worker that comes up costs nothing
        began, taken = time.process_time(), 0
        try:
            taken = await follower.look(stop.is_set)
        except CortexError as error:  # the worker comes up, or is replaced
            log.info("sessions wait: %s", error)
        now = time.monotonic()
        said = now if taken else said
        pause_s = pause(time.process_time() - began if not taken else 0.0, now - said)
        try:
            await asyncio.wait_for(stop.wait(), pause_s)
        except TimeoutError:
            continue


def pause(spent_s: float, quiet_s: float) -> float:
    """Seconds until the next look, after one that took `spent_s` of processor time for nothing,
    when nothing was said for `quiet_s`.
    """
    least_s = PAUSE_S if quiet_s < RESTS_AFTER_S else REST_S
    return min(PAUSE_MAX_S, max(least_s, PAUSE_FACTOR * spent_s))
