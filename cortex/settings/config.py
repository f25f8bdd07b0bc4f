"""The effective configuration and all paths: defaults, files, environment and flags in one frozen
dataclass.

Order: defaults < the user's config.yml < the project's .cortex/config.yml < CORTEX_* < flags. The
settings are in table.py, their layers in layers.py, the limits of a project's own file in trust.py,
a project's folders in home.py.
"""

import dataclasses
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cortex.sealing.master_key import take_from_environment
from cortex.sealing.places import SealedPlace, permit_disk
from cortex.sealing.places import sealed_place as place_of_sealed
from cortex.settings.consent.trust import Layer
from cortex.settings.data import DataFolder, find_data
from cortex.settings.folders import dependencies
from cortex.settings.folders.home import (
    IN_SET,
    PROJECT_FOLDER,
    cache_base,
    cache_home,
    find_root,
    is_sealed,
    keys_folder,
    project_config,
    real,
    root_id,
    runtime_base,
    runtime_id,
)
from cortex.settings.folders.projects import resolve_project
from cortex.settings.folders.subfolder import enclosing_project
from cortex.settings.layers import (
    build,
    find_plug,
    from_environment,
    merge_layers,
    person_layers,
    read_project,
)
from cortex.settings.plug import Plug, Store
from cortex.settings.relied_settings import flatten, hash_of
from cortex.settings.table import (
    MEMORY_EMBEDDING,
    Embedding,
    Engines,
    Fusion,
    Indexing,
    Memory,
    NoteEmbedding,
    Security,
    Server,
)
from cortex.system.errors import Misconfigured
from cortex.terms.languages import canonical, nearest_language
from cortex.terms.text.suggestions import hint
from ipc.messages import PROTOCOL

#: raised when the file formats of an index change; each number has its own folder in `index/`
INDEX_FORMAT = 12


@dataclass(frozen=True, slots=True)
class Config:
    """The effective configuration of one project; `root` is absolute and real."""

    root: Path
    #: the requested folder below the root, served from the root's index; "": all
    subfolder: str = ""
    embedding: Embedding = field(default_factory=Embedding)
    server: Server = field(default_factory=Server)
    indexing: Indexing = field(default_factory=Indexing)
    fusion: Fusion = field(default_factory=Fusion)
    memory: Memory = field(default_factory=Memory)
    memory_embedding: Embedding = field(default_factory=NoteEmbedding)
    security: Security = field(default_factory=Security)
    engines: Engines = field(default_factory=Engines)
    #: the engine of another package that `engines` names, and its section of settings
    plug: Plug | None = None
    plug_settings: Any = None
    #: True when --project, CORTEX_PROJECT or CLAUDE_PROJECT_DIR named the root; False in the
    #: processes of a set
    explicit_root: bool = False
    #: True when server.chunks_dir was set
    explicit_chunks: bool = False
    #: whether it stays sealed although no setting asks for it
    kept_sealed: bool = False
    #: settings of the project's file that are ignored, because its user did not agree to them
    ignored: tuple[str, ...] = ()
    #: whether this process indexes for the store: it has its own copy of the current index files
    writes: bool = False
    #: the user's own `security` settings, without the project's: memory belongs to all projects
    own_security: Security = field(default_factory=Security)

    @property
    def folder(self) -> Path:
        """The requested folder, which an agent takes for its project."""
        return self.root / self.subfolder

    @property
    def home(self) -> Path:
        """The project's folder in the cache, in memory if sealed: all our files are below it."""
        sealing = self.sealing
        return sealing.home if sealing else cache_home(self.root, self.root_id)

    @property
    def sealing(self) -> SealedPlace | None:
        """The sealed and the plain place of the project; None if unsealed. Raises Misconfigured."""
        if not self.security.encrypt_index:
            return None
        plain = cache_home(self.root, self.root_id)
        return place_of_sealed(cache_base(), self.root_id, plain, self.security.key_path, keys_folder())

    @property
    def chunks_dir(self) -> Path:
        """The folder of our chunk files. `server.chunks_dir` is relative to the root, or absolute
        and may be reached by the user's own links.
        """
        setting = self.server.chunks_dir
        if not setting:
            return self.home / "chunks"
        folder = self.root / setting
        return folder if folder.is_relative_to(self.root) else real(folder)

    @property
    def data(self) -> DataFolder:
        """The folder of memory: the person's, not the project's. Raises Misconfigured."""
        return find_data(self.memory, self.memory_embedding, self.server, self.security, self.own_security)

    @property
    def sandbox(self) -> bool:
        """Whether the worker processes run in a sandbox."""
        return self.security.sandbox

    @property
    def trusts_chunks(self) -> bool:
        """Whether the person's own settings trust the files of other programs in this project."""
        return any(
            entry.lower() in TRUST_ALL or _names_folder(entry, self.root)
            for entry in self.server.trust_chunks
        )

    @property
    def graph_dir(self) -> Path:
        return self.home / "graph"

    @property
    def store(self) -> Store | None:
        """The store of an index that many machines share: this one has a copy of its small files
        alone. None: the index is here.
        """
        return self.plug.store if self.plug else None

    @property
    def store_worker(self) -> tuple[str, str]:
        """(name, module) of the process that the store needs; "" for none."""
        module = self.plug.store.worker(self) if self.plug and self.plug.store else ""
        return (self.plug.name, module) if self.plug and module else ("", "")

    @property
    def index_dir(self) -> Path:
        """The index of this format, next to those of other formats. An index in a store has a
        folder for each address and name, so that no answer comes from an earlier setting.
        """
        if self.plug is None or self.plug.store is None:
            return self.home / "index" / str(INDEX_FORMAT)
        folder_name = f"{self.plug.name}-written" if self.writes else self.plug.name
        return self.home / folder_name / self.plug.store.key(self) / str(INDEX_FORMAT)

    @property
    def run_dir(self) -> Path:
        return self.home / "run"

    @property
    def read_only(self) -> bool:
        """Whether the cache folder is there but cannot be written: its index is served as it is."""
        home = self.home
        return not (self.security.encrypt_index or os.access(home, os.W_OK)) and home.is_dir()

    @property
    def log_dir(self) -> Path:
        """The folder of the logs of the project's processes."""
        return self.runtime_dir if self.read_only else self.run_dir

    @property
    def manifest(self) -> Path:
        """The indexer's record of the content of `chunks_dir`, one for each such folder."""
        setting = self.server.chunks_dir
        mark = f"-{hashlib.sha256(setting.encode()).hexdigest()[:8]}" if setting else ""
        return self.home / f"manifest{mark}.json"

    @property
    def indexer_state(self) -> Path:
        return self.run_dir / "indexer.json"

    @property
    def runtime_dir(self) -> Path:
        """The folder of sockets and locks: short, private, for each protocol and cache."""
        return runtime_base() / f"{runtime_id(self.root)}-p{PROTOCOL}"

    @property
    def root_id(self) -> str:
        return root_id(self.root)

    def hash(self) -> str:
        """Return 12 hex digits over the `relied_settings`; equal ones may share workers."""
        return hash_of(self.relied_settings())

    def relied_settings(self) -> dict[str, str]:
        """Return all settings that workers depend on, by name."""
        body = {
            "embedding": self.embedding,
            "server": dataclasses.replace(
                self.server,
                toolsets=(),
                deadline_s=0,
                idle_exit_s=0,
                answer_tokens=0,
                stats=True,
                history=True,
                trust_chunks=("1",) if self.trusts_chunks else (),
            ),
            "indexing": self.indexing,
            "format": INDEX_FORMAT,
            "sealed": self.security.encrypt_index,
            "engines": self.engines,
            **({self.plug.name: self.plug_settings} if self.plug else {}),
            "stored_project": self.store.project(self) if self.store else None,
            "cache": f"{cache_base()}{' (read-only)' if self.read_only else ''}",
        }
        return flatten(body)


def _names_folder(entry: str, root: Path) -> bool:
    """Whether a setting names the project's folder, or its folder of chunk files."""
    folder = os.path.expanduser(entry)
    cortex = root / PROJECT_FOLDER
    return os.path.isabs(folder) and real(folder) in (root, cortex, cortex / "chunks")


#: values of `server.trust_chunks` for every project
TRUST_ALL = ("1", "true", "yes")


#: settings of installed packages, which ignore files of a project leave out
PACKAGES: Layer = {"indexing": {"respect_gitignore": False}}


def load(
    project: str | os.PathLike[str] | None = None, flags: dict[str, dict[str, Any]] | None = None
) -> Config:
    """Return the effective configuration for `project`, a folder or a known name (found as in
    `find_root` if None). A folder inside an indexed project (`enclosing_project`) has that
    project's.

    `flags` is {section: {field: value}}. Raises Misconfigured with one sentence that names the
    source of the fault.
    """
    take_from_environment()
    root, explicit = find_root(resolve_project(project))
    cache_base()  # raises early the error that every path would raise
    root, subfolder = enclosing_project(root)
    project_file = read_project(root)
    project_layer, ignored = project_file.trusted_layer()
    user, *later = person_layers(flags)
    plug = find_plug(user, *later)
    if plug and plug.section:
        later.insert(1, ("the environment", from_environment(os.environ, {plug.name: plug.section})))
    sections = merge_layers(
        user,
        ("the project's packages", PACKAGES if dependencies.is_noted(root) else {}),
        (str(project_config(root)), project_layer),
        *later,
        plug=plug,
    )
    for name in sections["indexing"].languages:
        if not canonical(name):
            near = nearest_language(name)
            advice = f"{hint(near)}." if near else "; docs/LANGUAGES.md lists all languages."
            raise Misconfigured(f"indexing.languages names {name!r}, which is no language{advice}")
    own_fields = {**user[1].get("security", {}), **later[0][1].get("security", {})}
    wants_sealing = sections["security"].encrypt_index or project_file.says("security.encrypt_index")
    kept_sealed = not wants_sealing and is_sealed(cache_base(), root_id(root))
    sections["security"] = dataclasses.replace(
        sections["security"], encrypt_index=wants_sealing or kept_sealed
    )
    config = Config(
        root=root,
        subfolder=subfolder,
        explicit_root=explicit and not os.environ.get(IN_SET),
        explicit_chunks=bool(sections["server"].chunks_dir),
        kept_sealed=kept_sealed,
        ignored=ignored,
        own_security=build("security", Security, own_fields, "the configuration"),
        memory_embedding=sections.pop(MEMORY_EMBEDDING),
        plug=plug,
        plug_settings=sections.pop(plug.name, None) if plug else None,
        **sections,
    )
    _permit(config.own_security)
    _check_sealing(config)
    _check_engines(config)
    return config


def _permit(security: Security) -> None:
    if security.plain_runtime:
        permit_disk(cache_base())


def _check_sealing(config: Config) -> None:
    """Raise Misconfigured if bytes of a sealed project would be written plain, or sent."""
    if not config.sealing:
        return
    off = "or switch security.encrypt_index off"
    if config.explicit_chunks:
        raise Misconfigured(
            f"server.chunks_dir is {config.server.chunks_dir!r}, a plain folder, and the project is to be sealed: leave "
            f"it out, {off}."
        )


def _check_engines(config: Config) -> None:
    """Raise Misconfigured if the settings for a store contradict each other or others."""
    if config.store is None:
        return
    config.store.check(config)
    if config.sealing:
        raise Misconfigured(
            f"security.encrypt_index is on and the index is to be in {config.store.title}, which keeps texts as they "
            "are: switch one of the two off."
        )


def load_data(flags: dict[str, dict[str, Any]] | None = None) -> DataFolder:
    """Return the folder of memory for a caller without a project. Raises Misconfigured."""
    sections = merge_layers(*person_layers(flags))
    _permit(sections["security"])
    security = sections["security"]
    return find_data(sections["memory"], sections[MEMORY_EMBEDDING], sections["server"], security, security)


def load_security() -> Security:
    """Return a person's own `security` settings, without a project. Raises Misconfigured."""
    security: Security = merge_layers(*person_layers(None))["security"]
    _permit(security)
    return security
