"""The briefing of a project as a file: a hook prints it at the start of a session, without asking
the worker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from cortex.memory.briefing import TOKENS, brief
from cortex.memory.catalog import Selection
from cortex.memory.clones import hints
from cortex.memory.handovers import all_of, print_note
from cortex.memory.library import Library
from cortex.memory.transcripts.handover import TOPIC
from cortex.settings.branches import handover_file
from cortex.system import files

#: name of the files' folder in the memory folder
FOLDER = "briefings"
#: the file beside the briefings with the remotes that make clones one project: a hook reads no
#: settings
REMOTES = "remotes"
#: identities of projects that have a folder; programs may use other names, which make no file names
_IDENTITY = re.compile(r"[\w.-]{1,64}-[0-9a-f]{16}", re.ASCII)


def render(library: Library, folder: Path, project: str, remotes: Sequence[str] = ()) -> bool:
    """Write the briefing of a project and its hand-overs. Return False for a project without a
    folder. Raises OSError. Nothing is counted as shown, for no agent has read it yet.
    """
    if not _IDENTITY.fullmatch(project):
        return False
    memory, view = library.memory, library.of(project=project)
    briefing = brief(
        memory,
        Selection(project=view.project),
        "default",
        memory.now(),
        compact=False,
        tokens=TOKENS,
        by_hook=True,
    )
    text = "\n\n".join((briefing.text, *hints(view)))
    files.make_private(folder / FOLDER)
    files.replace(folder / FOLDER / f"{project}.md", text.encode())
    _write_handovers(view, folder / FOLDER, project)
    files.replace(folder / FOLDER / REMOTES, "\n".join(remotes).encode())
    return True


def _write_handovers(view: Library, folder: Path, project: str) -> None:
    """Write each hand-over to the file that `handover_file` names: its moment in milliseconds on
    the first line, then the text. Files of others are removed.
    """
    notes = {handover_file(project, note.topic.removeprefix(f"{TOPIC} ")): note for note in all_of(view)}
    for name in files.names(folder):
        if name.startswith(f"{project}.") and name != f"{project}.md" and name not in notes:
            files.remove(folder / name)
    for name, note in notes.items():
        files.replace(folder / name, f"{note.happened_at}\n{print_note(note)}".encode())


def forget(folder: Path) -> None:
    """Remove all briefing files, for they may hold a note that was just erased. Raises OSError."""
    files.remove_tree(folder / FOLDER)
