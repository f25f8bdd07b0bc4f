"""Which shards the indexer may build in its own process, and how a file that ends it there does so
once only.

Starting a child costs more than reading one saved file, but a file can end, fill or hold whatever
parses it (a fault of its grammar). While files are parsed here a note stands in the run folder; who
finds one that was left there builds in a child, where such a file costs itself alone, and that is
remembered with it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from cortex.indexer.pool import FILE_S
from cortex.indexer.store.shards import Task, ended_a_process
from cortex.system import files, hosts

#: stands in the run folder while files are parsed in the indexer's own process
NOTE = "parsing-here"


def may_build_inline(run_dir: Path, tasks: Sequence[Task]) -> bool:
    """Whether no process was ended while it did, and none of the files ended one as it was
    before.
    """
    if (run_dir / NOTE).exists():
        return False
    return not any(ended_a_process(entry) for task in tasks for entry in task.known.values())


@contextlib.contextmanager
def mark_building(run_dir: Path) -> Iterator[Callable[[str], None]]:
    """While files are parsed here; gives what is to be told of each before it is ("" after the
    last). One may take FILE_S of processor time: nothing but the end of its process stops a parser.

    The note stays when the process ends or its memory does. Raises OSError when it cannot be
    written.
    """
    files.make_folder(run_dir)
    files.replace(run_dir / NOTE, b"")
    try:
        yield _allot
    except MemoryError:
        raise
    except BaseException:
        remove_note(run_dir)
        raise
    else:
        remove_note(run_dir)
    finally:
        hosts.allot(0)


def _allot(path: str) -> None:
    hosts.allot(FILE_S if path else 0)


def remove_note(run_dir: Path) -> None:
    """Take the note away: what it warns of is known, or did not happen."""
    with contextlib.suppress(OSError):
        files.remove(run_dir / NOTE)
