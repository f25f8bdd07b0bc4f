"""The briefing of a project as a file: a hook prints it at the start of a session, without asking
the worker.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from cortex.memory.briefings.briefing import TOKENS, brief
from cortex.memory.briefings.handovers import all_of, print_note
from cortex.memory.find.catalog import Selection
from cortex.memory.library import Library
from cortex.memory.team.clones import hints
from cortex.memory.transcripts.proposing.handover import TOPIC
from cortex.settings.folders import branches
from cortex.system import files

#: branches with a briefing of their own, the newest
BRANCHES_MAX = 16
#: name of the files' folder in the memory folder
FOLDER = "briefings"
#: the file beside the briefings with the remotes that make clones one project: a hook reads no
#: settings
REMOTES = "remotes"
#: identities of projects that have a folder; programs may use other names, which make no file names
_IDENTITY = re.compile(r"[\w.-]{1,64}-[0-9a-f]{16}", re.ASCII)


def render(
    library: Library, folder: Path, project: str, remotes: Sequence[str] = (), place: str = ""
) -> bool:
    """Write the briefings of a project and its branches, and its hand-overs; `place`: a folder of
    the project, from which its branches are read. Return False for a project without a folder.
    Raises OSError. Nothing is counted as shown, for no agent has read it yet.
    """
    if not _IDENTITY.fullmatch(project):
        return False
    memory, view = library.memory, library.of(project=project)
    files.make_private(folder / FOLDER)
    written, hints_text = list[str](), hints(view)
    for name, elsewhere in _readers(view, project, place):
        selection = Selection(project=view.project, elsewhere=elsewhere)
        briefing = brief(
            memory, selection, "default", memory.now(), compact=False, tokens=TOKENS, by_hook=True
        )
        text = "\n\n".join((briefing.text, *hints_text))
        files.replace(folder / FOLDER / name, text.encode())
        written.append(name)
    _write_handovers(view, folder / FOLDER, project, written)
    files.replace(folder / FOLDER / REMOTES, "\n".join(remotes).encode())
    return True


def _readers(view: Library, project: str, place: str) -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    """Yield the name of each briefing's file, and the branches whose notes its readers do not share
    (`Selection.elsewhere`): for the main branch, and for each other one with notes.
    """
    head = branches.head_of(Path(place)) if place else None
    if head is None or head.common is None:
        yield f"{project}.md", ("", ())
        return
    names = branches.existing(head.common, view.memory.catalog.branches(view.project))
    others = tuple(name for name in names if name not in branches.main_branches(head.common))
    yield f"{project}.md", (view.project, others)
    for branch in others[-BRANCHES_MAX:]:
        rest = tuple(name for name in others if name != branch)
        yield branches.briefing_file(project, branch), (view.project, rest)


def _write_handovers(view: Library, folder: Path, project: str, others: Collection[str]) -> None:
    """Write each hand-over to the file that `handover_file` names: its moment in milliseconds on
    the first line, then the text. Files of the project that are neither hand-overs nor `others` are
    removed.
    """
    notes = {
        branches.handover_file(project, note.topic.removeprefix(f"{TOPIC} ")): note for note in all_of(view)
    }
    for name in files.names(folder):
        if name.startswith(f"{project}.") and name not in others and name not in notes:
            files.remove(folder / name)
    for name, note in notes.items():
        files.replace(folder / name, f"{note.happened_at}\n{print_note(note)}".encode())


def forget(folder: Path) -> set[str]:
    """Remove all briefing files, for they may hold a note that was just erased; return the projects
    whose briefings must be written again. Raises OSError.
    """
    names = files.names(folder / FOLDER) if (folder / FOLDER).is_dir() else ()
    files.remove_tree(folder / FOLDER)
    return {name.removesuffix(".md") for name in names if _IDENTITY.fullmatch(name.removesuffix(".md"))}
