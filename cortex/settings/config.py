"""The effective configuration and all paths: defaults, files, environment and flags in one frozen
dataclass.

Order: defaults < the user's config.yml < the project's .cortex/config.yml < CORTEX_* < flags. The
settings are in table.py, the limits of a project's own file in trust.py, a project's folders in
home.py.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from cortex.sealing.master_key import take_from_environment
from cortex.sealing.places import FILE_VARIABLE, VARIABLE, SealedPlace, permit_disk
from cortex.sealing.places import sealed_place as place_of_sealed
from cortex.settings.config_files import parse_settings, read_raw, read_settings
from cortex.settings.consent.trust import Layer, ProjectFile, find_consent_items
from cortex.settings.data import DataFolder, find_data
from cortex.settings.folders import dependencies
from cortex.settings.folders.home import (
    EMBED_TOKEN,
    IN_SET,
    PROJECT_FOLDER,
    REALLY,
    SSE_PORT,
    TOKEN,
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
    user_config,
)
from cortex.settings.folders.projects import resolve_project
from cortex.settings.folders.subfolder import enclosing_project
from cortex.settings.plug import LOCAL, Plug, Store, has_plug, load_plug
from cortex.settings.relied_settings import flatten, hash_of
from cortex.settings.table import (
    MEMORY_EMBEDDING,
    SECTIONS,
    Embedding,
    Engines,
    Fusion,
    Indexing,
    Memory,
    Security,
    Server,
    rules,
)
from cortex.system.errors import Misconfigured
from cortex.terms.languages import canonical, nearest_language
from cortex.terms.text.suggestions import hint, hint_for
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
    memory_embedding: Embedding = field(default_factory=Embedding)
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

#: environment variables with short names, besides the CORTEX_<SECTION>_<FIELD> forms
ALIASES = {
    "CORTEX_CHUNKS_DIR": ("server", "chunks_dir"),
    "CORTEX_EMBEDDING_ENDPOINT": ("embedding", "endpoint"),
    "CORTEX_TRUST_CHUNKS": ("server", "trust_chunks"),
}

#: field of `embedding` → the provider that it implies
IMPLIED = {"endpoint": "http", "model_path": "onnx"}
#: names of settings, or of sections, that other context engines have → the place of such a setting
MOVED = {
    "index_root": "the folder of indexes is CORTEX_HOME in the environment",
    "repo_globs": "further projects are in projects.yml beside the user's config.yml (docs/PROJECTS.md)",
    "languages": "languages are chosen by indexing.languages",
    "watcher.debounce_ms": (
        "the quiet time is indexing.debounce_ms for sources, and server.debounce_ms for chunk files"
    ),
    "embedding.base_url": "the server's address is embedding.endpoint",
    "chunks_dir": "the folder of chunk files is server.chunks_dir",
}

#: settings of installed packages, which ignore files of a project leave out
PACKAGES: Layer = {"indexing": {"respect_gitignore": False}}

#: environment variables that are no settings
OWN_VARIABLES = {
    "CORTEX_HOME",
    "CORTEX_PAGER",
    "CORTEX_PROJECT",
    EMBED_TOKEN,
    FILE_VARIABLE,
    IN_SET,
    REALLY,
    SSE_PORT,
    TOKEN,
    VARIABLE,
}


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
    user, *later = _person_layers(flags)
    plug = _find_plug(user, *later)
    if plug and plug.section:
        later.insert(1, ("the environment", _from_environment(os.environ, {plug.name: plug.section})))
    sections = _merge_layers(
        user,
        ("the project's packages", PACKAGES if dependencies.is_noted(root) else {}),
        (str(project_config(root)), project_layer),
        *later,
        plug=plug,
    )
    _check_languages(sections["indexing"].languages)
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
        own_security=_build("security", Security, own_fields, "the configuration"),
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


def _imply_provider(section: str, embedding: dict[str, Any]) -> None:
    """Set the provider that a configured server or model implies, if none is set."""
    implied = [provider for key, provider in IMPLIED.items() if embedding.get(key)]
    if "provider" in embedding or not implied:
        return
    if len(implied) > 1:
        raise Misconfigured(
            f"{section}.endpoint and {section}.model_path are both set; say which of them by {section}.provider: http "
            "or onnx."
        )
    embedding["provider"] = implied[0]


def load_data(flags: dict[str, dict[str, Any]] | None = None) -> DataFolder:
    """Return the folder of memory for a caller without a project. Raises Misconfigured."""
    sections = _merge_layers(*_person_layers(flags))
    _permit(sections["security"])
    security = sections["security"]
    return find_data(sections["memory"], sections[MEMORY_EMBEDDING], sections["server"], security, security)


def load_security() -> Security:
    """Return a person's own `security` settings, without a project. Raises Misconfigured."""
    security: Security = _merge_layers(*_person_layers(None))["security"]
    _permit(security)
    return security


def _person_layers(flags: Layer | None) -> list[tuple[str, Layer]]:
    return [
        (str(user_config()), _read_user()),
        ("the environment", _from_environment(os.environ, SECTIONS)),
        ("the command line", flags or {}),
    ]


def _find_plug(*layers: tuple[str, Layer]) -> Plug | None:
    """Return the plug that the person's `layers` choose, None for ours. Raises Misconfigured."""
    chosen = [(source, {"engines": layer["engines"]}) for source, layer in layers if "engines" in layer]
    if not chosen:
        return None
    engines = _merge_layers(*chosen)["engines"]
    names = sorted({engines.text, engines.vector} - {LOCAL})
    plug = load_plug(names[0]) if names else None
    if len(names) > 1 or (plug and plug.store and engines.text != engines.vector):
        raise Misconfigured(
            f"engines.text is {engines.text} and engines.vector {engines.vector}: one generation is "
            f"kept in one place; set both to {names[0]}, or both to {LOCAL}."
        )
    return plug


def _merge_layers(*layers: tuple[str, Layer], plug: Plug | None = None) -> dict[str, Any]:
    """Return the sections of all layers (source, layer); later ones win. Raises Misconfigured."""
    table = SECTIONS | ({plug.name: plug.section} if plug and plug.section else {})
    values: dict[str, dict[str, Any]] = {name: {} for name in table}
    for source, layer in layers:
        _check(layer, source, table)
        for section, fields in layer.items():
            values.setdefault(section, {}).update(fields)
    for section in ("embedding", MEMORY_EMBEDDING):
        _imply_provider(section, values[section])
    return {name: _build(name, kind, values[name], "the configuration") for name, kind in table.items()}


def _read_user() -> dict[str, Any]:
    """Read the user's own file, which may be a link."""
    path = user_config()
    return _sections(path, read_settings(Path(os.path.realpath(path))))


def read_project(root: Path) -> ProjectFile:
    """Read the project's own file, never through a link: it comes with a clone.

    Raises Misconfigured with one sentence if it cannot be read or understood.
    """
    path = project_config(root)
    raw = _read_plain(path, root)
    layer = _sections(path, parse_settings(path, raw))
    return ProjectFile(root, raw, layer, find_consent_items(layer, _check(layer, str(path), SECTIONS)))


def _read_plain(path: Path, root: Path) -> bytes:
    if (root / PROJECT_FOLDER).is_symlink():
        return b""  # opening the project refuses the link
    if path.is_symlink():
        raise Misconfigured(f"{path} must be a plain file, not a link; put a copy in its place.")
    return read_raw(path)


def _sections(path: Path, data: Any) -> dict[str, Any]:
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise Misconfigured(
            f"{path} must hold sections ({', '.join(SECTIONS)}), not a {type(data).__name__}."
        )
    memory = data.get("memory")
    if isinstance(memory, dict) and "embedding" in memory:
        others = {key: value for key, value in memory.items() if key != "embedding"}
        data = data | {"memory": others, MEMORY_EMBEDDING: memory["embedding"]}
    return {name: _with_off(name, fields) for name, fields in data.items()}


def _with_off(section: str, fields: Any) -> Any:
    """Return the settings with a bare `off`, YAML's `false`, as the word where that is a value."""
    if section not in SECTIONS or not isinstance(fields, dict):
        return fields
    hints = get_type_hints(SECTIONS[section])
    return {
        key: "off" if value is False and "off" in get_args(hints.get(key)) else value
        for key, value in fields.items()
    }


def _check(layer: Layer, source: str, table: Mapping[str, type]) -> dict[str, Any]:
    """Return the sections of `layer` as typed objects. That of an engine which is installed and not
    in use is left out.

    Raises Misconfigured for an unknown section or setting, or an invalid value.
    """
    built = {}
    for section, fields in layer.items():
        is_known = section in table
        if not is_known and (place := _moved_place(section, fields)):
            raise Misconfigured(f"{section!r} in {source} is no section: {place}.")
        if not is_known and not has_plug(str(section)):
            raise Misconfigured(
                f"Unknown section {section!r} in {source}{hint_for(str(section), SECTIONS, 0.0)}."
            )
        if not isinstance(fields, dict):
            raise Misconfigured(
                f"Section {section!r} in {source} must hold settings, not a {type(fields).__name__}."
            )
        if not is_known:
            continue
        setting_names = [f.name for f in dataclasses.fields(table[section])]
        for key in fields:
            moved = MOVED.get(f"{section}.{key}") or MOVED.get(str(key))
            if key not in setting_names and moved:
                raise Misconfigured(f"{section}.{key} in {source} is no setting: {moved}.")
            if key not in setting_names:
                raise Misconfigured(
                    f"Unknown setting {section}.{key} in {source}{hint_for(str(key), setting_names, 0.0)}."
                )
        built[section] = _build(section, table[section], fields, source)
        _check_bounds(section, built[section], source)
    return built


def _moved_place(section: str, fields: Any) -> str:
    """Return the place of the settings in an unknown section; "" if they have none."""
    names = [section, *(f"{section}.{key}" for key in (fields if isinstance(fields, dict) else ()))]
    return next((MOVED[name] for name in names if name in MOVED), "")


def _from_environment(environ: Mapping[str, str], table: Mapping[str, type]) -> dict[str, dict[str, Any]]:
    twins = {
        f"CORTEX_{section.replace('.', '_')}_{f.name}".upper(): (section, f.name)
        for section, cls in table.items()
        for f in dataclasses.fields(cls)
    }
    layer: dict[str, dict[str, Any]] = {}
    for name, value in environ.items():
        if not name.startswith("CORTEX_") or name in OWN_VARIABLES or not value:
            continue
        target = ALIASES.get(name) or twins.get(name)
        if target is None:
            if name.startswith(tuple(f"CORTEX_{s.upper()}_" for s in table)):
                raise Misconfigured(f"Unknown setting {name} in the environment{hint_for(name, twins, 0.0)}.")
            continue
        section, key = target
        layer.setdefault(section, {})[key] = _parse(value, get_type_hints(table[section])[key])
    return layer


def _parse(text: str, kind: Any) -> Any:
    if kind is bool:
        return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(
            text.lower(), text
        )
    if kind == tuple[str, ...]:
        return [element.strip() for element in text.split(",") if element.strip()]
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def _build(section: str, kind: type, values: Mapping[str, Any], source: str) -> Any:
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise Misconfigured(f"Wrong value in section {section!r} of {source}: {error}.") from error


def _check_languages(names: tuple[str, ...]) -> None:
    for name in names:
        if not canonical(name):
            near = nearest_language(name)
            advice = f"{hint(near)}." if near else "; docs/LANGUAGES.md lists all languages."
            raise Misconfigured(f"indexing.languages names {name!r}, which is no language{advice}")


def _check_bounds(section: str, built: Any, source: str) -> None:
    for name, rule in rules(section).items():
        value = getattr(built, name)
        if isinstance(value, int | float) and not rule.low <= value <= rule.high:
            raise Misconfigured(
                f"{section}.{name} is {value} in {source}; it must be between {rule.low} and {rule.high}."
            )
