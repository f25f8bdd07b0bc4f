"""Sentences on files that a question names and the index lacks: left out, or not there at all."""

import os
import re

from cortex.ask.freshness import Freshness
from cortex.settings.config import Config
from cortex.system.errors import CortexError
from cortex.terms.text.spelling import nearest_paths

#: reason of the scanner, or of the reader of a file → the clause after "because"; the setting that
#: takes the file in where the reason does not name it
_CLAUSES = (
    (r"larger than \d+ kB", r"it is \g<0>", "indexing.max_file_kb"),
    (r"indexing\.(?:include|languages) does not name .*", r"\g<0>", ""),
    (r"ignored by indexing\.ignore", r"it is \g<0>", ""),
    (r"(\S.*/) is ignored by indexing\.ignore", r"\g<0>", ""),
    (r"ignored by .*", r"it is \g<0>", "a line with ! in .cortexignore"),
    (r"(\S.*/) is ignored by .*", r"\g<0>", "a line with ! in .cortexignore"),
    (r"symbolic link", "it is a symbolic link", ""),
    (r"binary\b.*", r"it is \g<0>", ""),
    (r"generated or data", "its name is one of generated code or data", ""),
    (r"may hold secrets", "it may hold secrets", ""),
    (r"\S.*/ is left out: (.*)", r"\1", ""),
)


def describe_left_out(config: Config, freshness: Freshness, path: str) -> str:
    """Return why a file or folder of the project is not in the index, and the setting that takes it
    in; "" for one that is there, or does not exist.
    """
    if not path or freshness.has_chunks(path) or not freshness.is_there(path):
        return ""
    from cortex.indexer.scan import Scanner
    from cortex.indexer.store import manifest

    try:
        reason = Scanner(config).exclusion_reason(path).removeprefix("left out: ")
    except (CortexError, OSError):
        return f"{path} is there, but not in the index."
    if not reason and os.path.isdir(config.root / path):
        return ""
    if not reason:
        entry = manifest.load(config.manifest).files.get(path)
        if entry is None:
            return f"{path} is there, but was made a moment ago and is not indexed yet."
        if entry.chunks:  # read since the first look
            return f"{path} is there, but was made a moment ago and is not served yet."
        reason = entry.skipped or "it holds no text"
    for expression, clause, setting in _CLAUSES:
        if match := re.fullmatch(expression, reason):
            takes_in = f"; {setting} takes it in." if setting else "."
            return f"{path} is there, but left out because {match.expand(clause)}{takes_in}"
    return f"{path} is there, but left out because: {reason.rstrip('.')}."


def say_missing(config: Config, freshness: Freshness, path: str) -> str:
    """Return a sentence why no indexed file has this path, or on the nearest paths."""
    if why := describe_left_out(config, freshness, path):
        return why
    near = nearest_paths(path, freshness.listed())
    return f"There is no file {path!r} in the index." + (f" Nearest: {', '.join(near)}." if near else "")
