"""A project's name in Milvus, and a key that separates it from the same project elsewhere."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from cortex.settings.folders.identity import origin_of
from cortex.settings.table import Milvus

#: characters of a key; enough to make collisions impossible in practice
_KEY_CHARS = 16


def project_of(root: Path, settings: Milvus) -> str:
    """Return the project's name in Milvus."""
    return settings.project or origin_of(root) or root.name


def place_key(root: Path, settings: Milvus) -> str:
    """Return a path component that identifies this project in this Milvus and collection."""
    identity = "\0".join((settings.uri, settings.collection, project_of(root, settings)))
    return hashlib.sha256(os.fsencode(identity)).hexdigest()[:_KEY_CHARS]
