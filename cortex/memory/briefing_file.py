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
from cortex.memory.library import Library
from cortex.system import files

#: name of the files' folder in the memory folder
FOLDER = "briefings"
#: the file beside the briefings with the remotes that make clones one project: a hook reads no
#: settings
REMOTES = "remotes"
#: identities of projects that have a folder; programs may use other names, which make no file names
_IDENTITY = re.compile(r"[\w.-]{1,64}-[0-9a-f]{16}", re.ASCII)


def render(library: Library, folder: Path, project: str, remotes: Sequence[str] = ()) -> bool:
    """Write the briefing of a project. Return False for a project without a folder. Raises OSError.
    Nothing is counted as shown, for no agent has read it yet.
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
    files.replace(folder / FOLDER / REMOTES, "\n".join(remotes).encode())
    return True


def forget(folder: Path) -> None:
    """Remove all briefing files, for they may hold a note that was just erased. Raises OSError."""
    files.remove_tree(folder / FOLDER)
