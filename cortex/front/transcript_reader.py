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

from cortex.front.commit_feed import Call, CommitFeed
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
    stamp: tuple[int, int] = (-1, -1)
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
        self._commit_feed = CommitFeed(call, settings)
        self._has_positions = False

    async def look(self, stop: Callable[[], bool] = lambda: False) -> int:
        """Read what was added to all files since; how many portions were taken. Raises CortexError
        when the memory worker does not answer; the next look goes on there.
        """
        await self._load_positions()
        taken = 0
        for form in FORMATS:
            folder = self._folders.get(form.NAME)
            for path in form.paths(folder) if folder else ():
                if stop():
                    return taken
                taken += await self._read(path, form, stop)
        taken += await self._take_spool(self._spool) if self._spool else 0
        return taken + await self._commit_feed.look(self._projects, stop)

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
        file = self._files.setdefault(spool_reader.FILE + events[0][1].session, _File())
        file.folder = events[0][1].cwd
        project = self._project_of_folder(file.folder)
        return not project or await self._submit(spool_reader.portion_of(events, file.place), file, project)

    async def _load_positions(self) -> None:
        """Whose sessions are read, and at the first time how far."""
        arguments = {} if self._has_positions else {"workstation": self._workstation}
        answer = await self._call("followed", arguments, False, "", "")
        for path, place in answer["files"].items():
            self._files.setdefault(path, _File()).place = Position(*place)
        self._projects, self._has_positions = answer["projects"], True

    async def _read(self, path: Path, form: Format, stop: Callable[[], bool]) -> int:
        file = self._files.setdefault(str(path), _File())
        taken = 0
        try:
            info = os.lstat(path)
            if file.forgotten or file.stamp == (info.st_size, info.st_mtime_ns):
                return 0
            project = self._project_of(path, form, file)
            if not file.folder:  # until it says more
                file.stamp = (info.st_size, info.st_mtime_ns)
            if not project:
                return 0
            while portion := read_portion(path, form, file.place, file.committing):
                if not await self._submit(portion, file, project):
                    return taken
                taken += 1
                if not portion.more or file.forgotten or stop():
                    break
            if not stop():
                file.stamp = (info.st_size, info.st_mtime_ns)
        except OSError as error:  # gone, or not ours to read: the next look tells
            log.info("%s cannot be read: %s", path, error)
        return taken

    async def _submit(self, portion: Portion, file: _File, project: str) -> bool:
        commits = session_commits.commits(Path(file.folder), portion.parts)
        payload = asdict(portion) | {"commits": commits, "root": _root_of(file.folder)}
        payload["session"] |= {"workstation": self._workstation}
        payload["session"]["project_path"] = payload["session"]["project_path"] or file.folder
        # the same portion has the same number, in whichever process it is handed in again
        number = uuid.uuid5(uuid.NAMESPACE_URL, f"{portion.session['file']}\0{portion.place}\0{portion.anew}")
        answer = await self._call("take_session", {"portion": payload}, True, project, str(number))
        if not answer["taken"]:
            # the store is elsewhere than we believe, and says where with the next look
            file.place, self._has_positions = Position(), False
            return False
        file.place, file.forgotten = portion.place, answer.get("forgotten", False)
        odd = {name: count for name, count in portion.counts.items() if count and name != "known"}
        if odd:
            log.info("%s: lines that were left out: %s", portion.session["file"], odd)
        return True

    def _project_of(self, path: Path, form: Format, file: _File) -> str:
        """Whose session a file is, "" while it is not read."""
        file.folder = file.folder or folder_of(path, form)
        return self._project_of_folder(file.folder)

    def _project_of_folder(self, folder_name: str) -> str:
        """The project of a folder whose sessions are read, "" for one whose are not."""
        if not os.path.isabs(folder_name):
            return ""
        folder = Path(folder_name)
        project = identity_of(folder, self._settings.remotes)
        wanted = self._settings.sessions == "all" or project in self._projects
        return project if wanted and not refuses_reading(folder) else ""


def _root_of(folder: str) -> str:
    """The nearest folder above with `.git`, else the folder itself; "" for none."""
    path = Path(folder)
    return (
        str(next((root for root in (path, *path.parents) if (root / ".git").exists()), path))
        if folder
        else ""
    )


def refuses_reading(folder: Path) -> bool:
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


def session_folders(environ: Mapping[str, str], home: Path) -> dict[str, Path]:
    """Format → where its files are, of those that are there; a person's own links lead there."""
    folders = {form.NAME: Path(os.path.realpath(form.folder(home, environ))) for form in FORMATS}
    return {name: folder for name, folder in folders.items() if folder.is_dir()}


async def follow(follower: Follower, stop: asyncio.Event) -> None:
    """Look again and again until `stop`."""
    last_read = time.monotonic()
    while not stop.is_set():
        # of our own time: waiting for a worker that comes up costs nothing
        began, taken = time.process_time(), 0
        try:
            taken = await follower.look(stop.is_set)
        except CortexError as error:  # the worker comes up, or is replaced
            log.info("sessions wait: %s", error)
        now = time.monotonic()
        last_read = now if taken else last_read
        pause_s = pause(time.process_time() - began if not taken else 0.0, now - last_read)
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
