"""The folder of memory: one per person, for all projects, with the sockets of its processes."""

import dataclasses
import hashlib
import importlib.util
import os
from dataclasses import dataclass, field
from pathlib import Path

from cortex.sealing.places import SealedPlace, plain_of
from cortex.settings.folders.home import (
    cache_base,
    keep_notes_of_keys,
    keys_folder,
    real,
    refusal,
    runtime_base,
    user_home,
)
from cortex.settings.relied_settings import flatten, hash_of
from cortex.settings.table import MEMORY_EMBEDDING, Embedding, Memory, NoteEmbedding, Security, Server
from cortex.system import files
from cortex.system.errors import Misconfigured
from ipc.messages import PROTOCOL

#: subfolder of sealed data and its key; of the model of `cortex memory model install`
SEALED, MODEL = "sealed", "model"
#: the folder of memory if neither a setting nor CORTEX_HOME names one; its name in CORTEX_HOME; the
#: file that holds a store
USUAL, IN_HOME, STORE = "~/.cortex/default", "memory", "memory.sqlite3"


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The folder `root`, absolute and real; no link is followed below it."""

    root: Path
    settings: Memory = field(default_factory=Memory)
    #: the embedder in the settings
    embedding: Embedding = field(default_factory=NoteEmbedding)
    #: seconds without a front before its processes end, and seconds of one call
    idle_exit_s: float = 600.0
    deadline_s: float = 10.0
    #: whether its processes run in a sandbox
    sandbox: bool = False
    #: whether to seal it; a sealed one stays sealed until a person changes that
    seals: bool = False
    #: security.key_path
    key_path: str = ""

    @property
    def is_sealed(self) -> bool:
        return os.path.lexists(self.root / SEALED)

    @property
    def sealing(self) -> SealedPlace | None:
        """The sealed and plain place of derived data; None if unsealed. Raises Misconfigured."""
        if not (self.seals or self.is_sealed):
            return None
        store = self.root / SEALED
        return SealedPlace(store, plain_of(store), None, self.key_path, keys_folder(), is_lasting=True)

    @property
    def home(self) -> Path:
        """The folder of derived data, in memory if it is sealed. Raises Misconfigured."""
        sealing = self.sealing
        return sealing.home if sealing else self.root

    @property
    def run_dir(self) -> Path:
        """The folder of its processes' logs."""
        return self.home / "run"

    @property
    def log_dir(self) -> Path:
        return self.run_dir

    @property
    def runtime_dir(self) -> Path:
        """The folder of its sockets and locks: short, private, one for each protocol."""
        return runtime_base() / f"{self.root_id}-p{PROTOCOL}"

    @property
    def root_id(self) -> str:
        """16 hex digits, different from those of a project in the same folder."""
        return hashlib.sha256(b"memory\0" + os.fsencode(self.root)).hexdigest()[:16]

    def hash(self) -> str:
        """Return 12 hex digits over the `relied_settings`."""
        return hash_of(self.relied_settings())

    def relied_settings(self) -> dict[str, str]:
        """Return the settings that its workers depend on: of `memory` alone, shared by projects."""
        settings = dataclasses.asdict(self.settings) | {"data_dir": os.fspath(self.root)}
        settings["sealed"] = self.seals or self.is_sealed
        for name in ("remotes", "git"):  # only fronts use them
            del settings[name]
        return flatten(settings | {MEMORY_EMBEDDING: self.embedding})

    @property
    def embedder(self) -> Embedding:
        """The embedder of notes: of the settings, else the installed model, else the built-in."""
        if self.embedding == NoteEmbedding() and (self.root / MODEL).is_dir():
            return Embedding(provider="onnx", model_path=str(self.root / MODEL))
        return self.embedding

    def make(self) -> Path:
        """Make and check the folder and its log folder. Raises Misconfigured if it cannot be
        written, or is another user's; Unavailable if there is no space.
        """
        try:
            files.make_private(self.root)
            keep_notes_of_keys()
            if place := self.sealing:
                self._check_installed()
                from cortex.sealing.plain_folder import ensure_open

                ensure_open(place)
            files.make_private(self.run_dir)
        except OSError as error:
            raise refusal(error)(
                f"The memory's folder {self.root} cannot be used: {error.strerror or error}; make it a writable "
                "folder of yours, or set memory.data_dir to one."
            ) from error
        return self.root

    def _check_installed(self) -> None:
        """Raise Misconfigured if the package for sealing is missing, before a key is made."""
        if self.is_sealed or importlib.util.find_spec("sqlcipher3"):
            return
        from cortex.system.installation import how_to_add

        raise Misconfigured(
            f"Memory in {self.root} is to be sealed, and the package sqlcipher3 is not installed: "
            f"{how_to_add('private')}, or set security.encrypt_memory to off."
        )


def usual_folder() -> str:
    """Return the folder of memory that no setting names. Raises Misconfigured as `cache_base`."""
    return str(cache_base() / IN_HOME) if os.environ.get("CORTEX_HOME") else USUAL


def usual_store() -> Path:
    """Return the folder of memory of a person who chose none."""
    return real(user_home() + USUAL.removeprefix("~"))


def say_other_store(root: Path) -> str:
    """Return a sentence on the store that CORTEX_HOME left behind, if memory is in `root`; "" for
    none. Cortex moves no notes by itself.
    """
    usual = usual_store()
    if root == usual or str(root) != usual_folder() or not os.path.lexists(usual / STORE):
        return ""
    return (
        f"CORTEX_HOME is set, so notes are in {root}; those in {usual} stay there. "
        f"Set memory.data_dir to {USUAL} to use them here."
    )


def find_data(
    settings: Memory, embedding: Embedding, server: Server, security: Security, own_security: Security
) -> DataFolder:
    """Return the configured folder; `own_security` holds the person's settings without the
    project's.

    Raises Misconfigured for a relative path: processes have different working folders.
    """
    folder = settings.data_dir or usual_folder()
    if folder == "~" or folder.startswith("~/"):
        folder = user_home() + folder[1:]
    if not os.path.isabs(folder):
        raise Misconfigured(f"memory.data_dir is {folder!r}, which is not an absolute path; set it to one.")
    seals = own_security.encrypt_memory == "on" or (
        own_security.encrypt_memory == "index" and own_security.encrypt_index
    )
    return DataFolder(
        real(folder),
        settings,
        embedding,
        server.idle_exit_s,
        server.deadline_s,
        sandbox=security.sandbox,
        seals=seals,
        key_path=security.key_path,
    )
