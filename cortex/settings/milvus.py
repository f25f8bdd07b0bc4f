"""Where Milvus is, and how a project is called there. Reads settings, and opens nothing.

A file, `….db`, is milvus-lite's: one process opens it and serves it on a unix socket in the runtime
folder, all others ask that one.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from cortex.settings.config import Config
from cortex.settings.home import real, runtime_base
from cortex.settings.milvus_names import project_of
from cortex.settings.reference import read_reference
from cortex.settings.table import FILE_ENDING
from cortex.system.errors import Misconfigured

#: how addresses of servers begin
SCHEMES = ("http://", "https://")
#: names of projects and of collections: they stand in filters
_PROJECT, _COLLECTION = re.compile(r"[\w./@+-]+"), re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII)
#: bytes of a project's name: it begins the keys of rows and of parts, of which Milvus takes 300
PROJECT_BYTES_MAX = 200


@dataclass(frozen=True, slots=True)
class MilvusPlace:
    """One project in one Milvus."""

    #: what a client connects to
    address: str
    token: str = field(repr=False)
    #: what the collections' names begin with
    collection: str
    project: str
    dimensions: int
    #: the file of milvus-lite; None where a server is asked
    file: Path | None = None

    @property
    def folder(self) -> Path | None:
        """The runtime folder of the socket and the lock of `file`."""
        return None if self.file is None else Path(self.address.removeprefix("unix:")).parent

    @property
    def label(self) -> str:
        """The place in a sentence; no secret is in it."""
        return str(self.file) if self.file else self.address

    @property
    def missing_message(self) -> str:
        """What is said where it holds nothing of the project."""
        return (
            f"Milvus at {self.label} has nothing of a project {self.project}: run `cortex index --to milvus` where its "
            "files are, or set milvus.project to what it is called there."
        )


def milvus_place(config: Config) -> MilvusPlace:
    """Raises Misconfigured for an address or a name that cannot be."""
    settings = config.milvus
    project = project_of(config.root, settings)
    if not _PROJECT.fullmatch(project) or len(os.fsencode(project)) > PROJECT_BYTES_MAX:
        raise Misconfigured(
            f"The project is called {project!r} in Milvus: a name takes letters, digits and . / @ + - _, "
            f"{PROJECT_BYTES_MAX} bytes of them at most (this one has {len(os.fsencode(project))}); set milvus.project to "
            "another."
        )
    if not _COLLECTION.fullmatch(settings.collection):
        raise Misconfigured(
            f"milvus.collection is {settings.collection!r}: it takes letters, digits and _, none first that is a "
            "digit; set another."
        )
    token = read_reference(settings.token, "milvus.token")
    uri, dimensions = settings.uri, config.embedding.dimensions
    if uri.startswith(SCHEMES):
        if "@" in uri:
            raise Misconfigured("milvus.uri holds a name or a password: put it into milvus.token, as $NAME.")
        return MilvusPlace(uri, token, settings.collection, project, dimensions)
    if not uri.endswith(FILE_ENDING):
        raise Misconfigured(
            f"milvus.uri is {uri!r}: it takes the address of a server, http://host:19530, or the file of a "
            "milvus-lite, whose name ends with .db."
        )
    file = real(os.path.expanduser(uri))
    if not Path(os.path.expanduser(uri)).is_absolute():
        raise Misconfigured(f"milvus.uri is {uri!r}, which is not an absolute path; set it to one.")
    name = f"milvus-{hashlib.sha256(os.fsencode(file)).hexdigest()[:16]}"
    return MilvusPlace(
        f"unix:{runtime_base() / name / 's.sock'}", token, settings.collection, project, dimensions, file
    )
