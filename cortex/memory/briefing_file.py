"""The briefing of a project as a file, which a hook prints at the start of a session: it can ask
nobody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from cortex.memory.briefing import brief
from cortex.memory.catalog import Selection
from cortex.memory.library import Library
from cortex.system import files

#: the folder of the files, in the folder of memory
FOLDER = "briefings"
#: the file beside them that says which remotes make clones one project: a hook reads no settings
REMOTES = "remotes"
#: tokens of one: a hook prints 9 000 bytes
TOKENS = 2_200
#: the projects that a folder has; programs may use other names, which are no names of files
_IDENTITY = re.compile(r"[\w.-]{1,64}-[0-9a-f]{16}", re.ASCII)


def render(library: Library, folder: Path, project: str, remotes: Sequence[str] = ()) -> bool:
    """Write the briefing of a project; whether it is one of a folder. Raises OSError.

    It is shown to nobody yet, so nothing is counted as shown.
    """
    if not _IDENTITY.fullmatch(project):
        return False
    memory, view = library.memory, library.of(project=project)
    briefing = brief(
        memory, Selection(project=view.project), "default", memory.now(), compact=False, tokens=TOKENS
    )
    files.make_private(folder / FOLDER)
    files.replace(folder / FOLDER / f"{project}.md", briefing.text.encode())
    files.replace(folder / FOLDER / REMOTES, "\n".join(remotes).encode())
    return True


def forget(folder: Path) -> None:
    """Remove all of them: something that they may tell was forgotten for good. Raises OSError."""
    files.remove_tree(folder / FOLDER)
