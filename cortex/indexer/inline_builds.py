"""The decision which shards the indexer may build in its own process, so that a file can crash it
only once.

Starting a child costs more than reading one saved file, but a fault of its grammar can make a file
crash, fill or block its parser's process. While the indexer parses files itself, a note is in the
run folder. A process that finds an old note builds in a child, where such a file does no other
harm, and the file's entry then records the crash.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from cortex.indexer.children import FILE_S
from cortex.indexer.store.shards import Task, ended_a_process
from cortex.system import files, hosts

#: the note in the run folder while the indexer's own process parses files
NOTE = "parsing-here"


def may_build_inline(run_dir: Path, tasks: Sequence[Task]) -> bool:
    """Return whether no note remains of a crash, and no unchanged file has ended a process."""
    if (run_dir / NOTE).exists():
        return False
    return not any(ended_a_process(entry) for task in tasks for entry in task.known.values())


@contextlib.contextmanager
def mark_building(run_dir: Path) -> Iterator[Callable[[str], None]]:
    """Write the note while files are parsed here; yield a function to call with each file before it
    is parsed, and with "" after the last. It allots FILE_S of processor time: nothing but the end
    of its process stops a parser.

    The note remains when the process crashes or runs out of memory. Raises OSError when it cannot
    be written.
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
    """Remove the note: the crash that it warns of is recorded, or did not happen."""
    with contextlib.suppress(OSError):
        files.remove(run_dir / NOTE)
