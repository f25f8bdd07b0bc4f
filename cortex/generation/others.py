"""The state of the sources that chunks of other programs name, and how far such text can be relied
on.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cortex.system.folders import path_names

#: remarks on text without lines of a file to compare it with; on text that differs from the lines
#: of its file, and is not shown; on text whose readers have no sources to compare it with
BY_OTHERS, DIFFERS, NOT_COMPARED = "by another program", "differs", "not compared"
#: remarks, the weightiest last; "": the text is that of the file
REMARKS = ("", NOT_COMPARED, BY_OTHERS, DIFFERS)
#: paths that a sentence names
NAMED_MAX = 3

_SENTENCES = {
    NOT_COMPARED: "{}: text by another program, not compared with a file.",
    BY_OTHERS: "{}: text by another program.",
    DIFFERS: "{}: a chunk of another program differs from the file, and is not quoted.",
}


@dataclass(frozen=True, slots=True)
class OthersSource:
    """A source that chunks of another program name, as it was when they were compared with it; -1
    for a missing one. `remark` is one of REMARKS.
    """

    size: int = -1
    mtime_ns: int = -1
    ctime_ns: int = -1
    remark: str = ""

    def is_current(self, root: str, path: str) -> bool:
        """Return whether the file below `root` was not written since."""
        now = state_of(root, path)
        return (self.size, self.mtime_ns, self.ctime_ns) == (now.size, now.mtime_ns, now.ctime_ns)


def is_inside(root: str, path: str) -> bool:
    """Return whether another program's path leads into the project, through links as well."""
    if not path or not path_names.stays_inside(path):
        return False
    try:
        real = os.path.realpath(os.path.join(root, path))
    except (OSError, ValueError):  # a NUL in the path
        return False
    return real == root or real.startswith(os.path.join(root, ""))


def state_of(root: str, path: str) -> OthersSource:
    """Return the state of a source now, without a remark; a missing one for no path."""
    try:
        if not path or not path_names.stays_inside(path):
            return OthersSource()
        info = os.lstat(f"{root}/{path}")
    except (OSError, ValueError):
        return OthersSource()
    return OthersSource(info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def say_origins(sources: Mapping[str, OthersSource], paths: Iterable[str]) -> list[str]:
    """Return a sentence for each remark on `paths`; "" stands for entries of no file."""
    by_remark: dict[str, list[str]] = {}
    for path in sorted(paths):
        if path in sources and (remark := sources[path].remark):
            by_remark.setdefault(remark, []).append(path or "An entry of no file")
    return [_SENTENCES[remark].format(_name(by_remark[remark])) for remark in REMARKS if remark in by_remark]


def _name(paths: list[str]) -> str:
    more = f" and {len(paths) - NAMED_MAX} more" if len(paths) > NAMED_MAX else ""
    return ", ".join(paths[:NAMED_MAX]) + more
