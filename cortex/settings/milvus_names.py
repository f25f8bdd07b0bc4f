"""How a project is called in Milvus, and what tells it from one elsewhere."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from cortex.settings.identity import origin_of
from cortex.settings.table import Milvus

#: characters of a key: of so many places two have the same one never
_KEY_CHARS = 16


def project_of(root: Path, settings: Milvus) -> str:
    """How a project is called there."""
    return settings.project or origin_of(root) or root.name


def place_key(root: Path, settings: Milvus) -> str:
    """What tells this project in this place from any other, or elsewhere; a part of a path."""
    identity = "\0".join((settings.uri, settings.collection, project_of(root, settings)))
    return hashlib.sha256(os.fsencode(identity)).hexdigest()[:_KEY_CHARS]
