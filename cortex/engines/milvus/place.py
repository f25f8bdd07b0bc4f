"""The settings of Milvus, its address, and a project's name in it. Opens no Milvus.

A file (`….db`) belongs to milvus-lite: one process opens it and serves it on a Unix socket in the
runtime folder, all others connect there.
"""

import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from cortex.settings.config import Config
from cortex.settings.folders.home import real, runtime_base
from cortex.settings.folders.identity import origin_of
from cortex.settings.reference import read_reference
from cortex.system import hosts
from cortex.system.errors import Misconfigured

#: prefixes of server addresses
SCHEMES = ("http://", "https://")
#: suffix of a milvus-lite file
FILE_ENDING = ".db"
#: characters of a key; enough to make collisions impossible in practice
KEY_CHARS = 16
#: valid names of projects and of collections, as they appear in filters
_PROJECT, _COLLECTION = re.compile(r"[\w./@+-]+"), re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII)
#: the file in milvus-lite's folder that a process locks while it has the folder open
LOCK_NAME = "LOCK"
#: characters of a command line in an error
COMMAND_CHARS = 120
#: longest project name, in bytes: it begins the keys of rows and partitions, of which Milvus takes
#: 300
PROJECT_BYTES_MAX = 200


@dataclass(frozen=True, slots=True)
class Milvus:
    #: a server (http(s)://…) or a milvus-lite file (….db)
    uri: str = ""
    #: access token of the server, or $NAME of a variable
    token: str = field(default="", repr=False)
    #: prefix of the collections' names
    collection: str = "cortex"
    #: the project's name there; "": from the origin of its repository, else from its folder
    project: str = ""
    #: PostgreSQL server whose locks let one indexer at a time write a project, or $NAME of a
    #: variable
    lease: str = ""
    #: whether the person guarantees that one indexer at a time writes a project
    single_writer: bool = False


@dataclass(frozen=True, slots=True)
class MilvusPlace:
    """A project in a Milvus."""

    #: address that a client connects to
    address: str
    token: str = field(repr=False)
    #: prefix of the collections' names
    collection: str
    project: str
    dimensions: int
    #: the file of milvus-lite; None for a server
    file: Path | None = None

    @property
    def folder(self) -> Path | None:
        """The runtime folder with the socket and the lock of `file`."""
        return None if self.file is None else Path(self.address.removeprefix("unix:")).parent

    @property
    def label(self) -> str:
        """The place as text for messages, without secrets."""
        return str(self.file) if self.file else self.address

    @property
    def missing_message(self) -> str:
        """The error text for a Milvus without data of the project."""
        return (
            f"Milvus at {self.label} has no data of a project {self.project}: run `cortex index --to milvus` where its "
            "files are, or set milvus.project to its name there."
        )


def project_of(config: Config) -> str:
    """Return the project's name in Milvus."""
    settings: Milvus = config.plug_settings
    return settings.project or origin_of(config.root) or config.root.name


def milvus_place(config: Config) -> MilvusPlace:
    """The configured place. Raises Misconfigured for an invalid address or name."""
    settings: Milvus = config.plug_settings
    project = project_of(config)
    if not _PROJECT.fullmatch(project) or len(os.fsencode(project)) > PROJECT_BYTES_MAX:
        raise Misconfigured(
            f"The project is called {project!r} in Milvus: a name takes letters, digits and . / @ + - _, "
            f"{PROJECT_BYTES_MAX} bytes of them at most (this one has {len(os.fsencode(project))}); set milvus.project to "
            "another."
        )
    if not _COLLECTION.fullmatch(settings.collection):
        raise Misconfigured(
            f"milvus.collection is {settings.collection!r}: use letters, digits and _, and no digit at the "
            "beginning."
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


def say_held(place: MilvusPlace) -> str:
    """Return a sentence that names the process which holds a file of milvus-lite; "" for none."""
    if place.file is None:
        return ""
    holders = [
        f"process {pid} ({command[:COMMAND_CHARS] or 'of another user'})"
        for pid, command in hosts.lock_holders(place.file / LOCK_NAME)
        if pid != os.getpid()
    ]
    if not holders:
        return ""
    return f"{place.label} is held by {' and '.join(holders)}: end it, or name another file in milvus.uri."
