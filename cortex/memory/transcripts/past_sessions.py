"""Sessions from before memory was first used in their project: their number, and the answer of a
person whether they are read.
"""

from __future__ import annotations

from typing import Any

from cortex.memory.library import Library
from cortex.memory.transcripts.consent import NO, YES, consent, give


def past_sessions(library: Library, *, answer: str = "") -> dict[str, Any]:
    """{"past_sessions": the answer, "unread": number of earlier sessions of this project that wait
    for it}. `answer`: YES or NO, to store it. The setting `memory.sessions: all` is a YES.
    """
    folder = library.memory.store.database.folder
    if answer:
        give(folder, answer)
    reads_all = library.memory.upkeep.settings.sessions == "all"
    return {"past_sessions": YES if reads_all else consent(folder), "unread": unread(library)}


def unread(library: Library) -> int:
    """The number of earlier sessions of the project that wait for an answer."""
    counts, projects = library.memory.unread_sessions, library.memory.projects.all_of(library.project)
    return sum(counts[project] for project in projects or counts if project in counts)


def hint(library: Library) -> str:
    """One sentence about unread sessions; "" for none, and after a person said no."""
    count = unread(library)
    if not count or consent(library.memory.store.database.folder) == NO:
        return ""
    sessions = f"{count} earlier {'session' if count == 1 else 'sessions'}"
    return (
        f"{sessions} of this project, from before memory was first used in it, are not read. A person can "
        "have them read with `cortex memory past-sessions yes`."
    )
