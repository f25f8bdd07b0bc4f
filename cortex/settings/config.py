"""Configuration: one frozen dataclass from defaults, files, environment and flags; every path and address.

Order: defaults < the user's config.yml < the project's .cortex/config.yml < CORTEX_* < flags. A project's file comes
with a cloned repository and is not trusted: it may not name an endpoint outside loopback or a path outside the root.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import ipaddress
import os
import stat
import tempfile
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_type_hints

import msgspec
import orjson
import yaml

from ipc.errors import Misconfigured
from ipc.messages import PROTOCOL

Provider = Literal["static", "http", "local"]

#: bumped when the files below .cortex/index change shape; an index of another number is thrown away and rebuilt
INDEX_FORMAT = 6

#: sun_path holds 104 bytes on macOS and 108 on Linux, with the final NUL
SOCKET_PATH_MAX = 103


@dataclass(frozen=True, slots=True)
class Embedding:
    provider: Provider = "static"
    endpoint: str = ""
    model: str = ""
    dimensions: int = 384


@dataclass(frozen=True, slots=True)
class Server:
    chunks_dir: str = ".cortex/chunks"
    auto_index: bool = True
    debounce_ms: int = 500
    deadline_s: float = 10.0
    idle_exit_s: float = 600.0
    toolsets: tuple[str, ...] = ("code",)


@dataclass(frozen=True, slots=True)
class Indexing:
    include: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    chunk_tokens: int = 300
    respect_gitignore: bool = True
    max_file_kb: int = 1024
    debounce_ms: int = 100


@dataclass(frozen=True, slots=True)
class Fusion:
    bm25_weight: float = 0.45


@dataclass(frozen=True, slots=True)
class Config:
    """The effective configuration of one project. `root` is absolute and real; paths below it are properties."""

    root: Path
    embedding: Embedding = field(default_factory=Embedding)
    server: Server = field(default_factory=Server)
    indexing: Indexing = field(default_factory=Indexing)
    fusion: Fusion = field(default_factory=Fusion)
    #: True when --project, CORTEX_PROJECT or CLAUDE_PROJECT_DIR named the root
    explicit_root: bool = False
    #: True when chunks_dir was set by anything but the defaults
    explicit_chunks: bool = False

    @property
    def home(self) -> Path:
        return self.root / ".cortex"

    @property
    def chunks_dir(self) -> Path:
        return self.root / self.server.chunks_dir  # an absolute chunks_dir replaces the root

    @property
    def graph_dir(self) -> Path:
        return self.home / "graph"

    @property
    def index_dir(self) -> Path:
        return self.home / "index"

    @property
    def run_dir(self) -> Path:
        return self.home / "run"

    @property
    def manifest(self) -> Path:
        return self.home / "manifest.json"

    @property
    def indexer_state(self) -> Path:
        return self.run_dir / "indexer.json"

    @property
    def runtime_dir(self) -> Path:
        """The folder of this project's sockets and locks; short, private to the user, one for each protocol."""
        return runtime_base() / f"{self.root_id}-p{PROTOCOL}"

    @property
    def root_id(self) -> str:
        return hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]

    def hash(self) -> str:
        """12 hex digits over everything that workers act on; two processes with equal hashes may share a set."""
        body = {
            "embedding": self.embedding,
            "server": dataclasses.replace(self.server, toolsets=(), deadline_s=0, idle_exit_s=0),
            "indexing": self.indexing,
            "format": INDEX_FORMAT,
        }
        return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]


SECTIONS: dict[str, type] = {"embedding": Embedding, "server": Server, "indexing": Indexing, "fusion": Fusion}

#: environment variables that the source specification names, beside the CORTEX_<SECTION>_<FIELD> twins
ALIASES = {
    "CORTEX_CHUNKS_DIR": ("server", "chunks_dir"),
    "CORTEX_EMBEDDING_ENDPOINT": ("embedding", "endpoint"),
}

#: environment variables with a meaning of their own
OWN_VARIABLES = {"CORTEX_PROJECT"}


def load(
    project: str | os.PathLike[str] | None = None, flags: dict[str, dict[str, Any]] | None = None
) -> Config:
    """The effective configuration for `project` (found as in `find_root` when None).

    `flags` is {section: {field: value}}. Raises Misconfigured with one sentence that names the source of the fault.
    """
    root, explicit = find_root(project)
    values: dict[str, dict[str, Any]] = {name: {} for name in SECTIONS}
    for source, layer in (
        (str(user_config()), _read_yaml(user_config())),
        (str(root / ".cortex" / "config.yml"), _untrusted(_read_yaml(root / ".cortex" / "config.yml"), root)),
        ("the environment", _from_environment(os.environ)),
        ("the command line", flags or {}),
    ):
        _check_keys(layer, source)
        for section, fields in layer.items():
            values[section].update(fields)
            _build(section, values[section], source)
    embedding = values["embedding"]
    if embedding.get("endpoint") and "provider" not in embedding:
        embedding["provider"] = "http"
    sections = {name: _build(name, fields, "the configuration") for name, fields in values.items()}
    config = Config(
        root=root, explicit_root=explicit, explicit_chunks="chunks_dir" in values["server"], **sections
    )
    _check_ranges(config)
    return config


def user_config() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(base) / "cortex" / "config.yml"


def find_root(project: str | os.PathLike[str] | None = None) -> tuple[Path, bool]:
    """(root, named explicitly?): the argument, CORTEX_PROJECT, CLAUDE_PROJECT_DIR, or the nearest parent with .git
    or .cortex/config.yml. Never /, the home folder or anything above it.
    """
    named = project or os.environ.get("CORTEX_PROJECT") or os.environ.get("CLAUDE_PROJECT_DIR")
    if named:
        root = Path(named).expanduser()
        if not root.is_dir():
            raise Misconfigured(
                f"The project folder {str(root)!r} does not exist; pass an existing one with --project."
            )
        return root.resolve(), True
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        if _too_high(folder):
            break
        if (folder / ".git").exists() or (folder / ".cortex" / "config.yml").is_file():
            return folder, False
    raise Misconfigured(
        f"No project found at or above {here}: run `git init` or `cortex init` there, or pass --project DIR "
        '(in an agent\'s configuration: "args": ["mcp", "--project", "/path/to/project"]).'
    )


def _too_high(folder: Path) -> bool:
    home = Path(os.path.expanduser("~")).resolve()
    return folder == home or folder in home.parents


def runtime_base() -> Path:
    """`${XDG_RUNTIME_DIR:-/tmp}/cortex-<uid>`; the temporary folder when that makes socket paths too long.

    Agents start us with few variables: where XDG_RUNTIME_DIR is missing its usual value is tried, so that their
    fronts and a person's terminal meet at one set.
    """
    uid = os.getuid()
    usual = f"/run/user/{uid}"
    for base in (os.environ.get("XDG_RUNTIME_DIR") or usual, "/tmp", tempfile.gettempdir()):  # noqa: S108 - checked below
        if base and os.path.isdir(base) and os.access(base, os.W_OK):
            path = Path(base) / f"cortex-{uid}"
            if len(os.fsencode(path)) + 40 <= SOCKET_PATH_MAX:
                return path
    raise Misconfigured("No folder for sockets: set XDG_RUNTIME_DIR to a short, writable folder.")


def private_dir(path: Path) -> Path:
    """Make `path` (0700) and check that it is a real folder owned by this user.

    Raises Misconfigured for a link, another owner, or rights that others have.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = path.lstat()
    except OSError as error:
        raise Misconfigured(f"Cannot make the folder {path}: {error.strerror}.") from error
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
        raise Misconfigured(f"{path} must be a real folder owned by you; move it away.")
    if info.st_mode & 0o077:
        os.chmod(path, 0o700)
    return path


def open_runtime(config: Config) -> Path:
    """The project's runtime folder, made and checked, each level of it."""
    private_dir(runtime_base())
    return private_dir(config.runtime_dir)


def open_home(config: Config) -> Path:
    """`.cortex` with its .gitignore. Raises Misconfigured when it cannot be written, or is a link or another's."""
    home = config.home
    try:
        home.mkdir(exist_ok=True)
        for folder in (home, config.index_dir, config.run_dir, config.graph_dir, home / "chunks"):
            if folder.exists() or folder.is_symlink():
                info = folder.lstat()
                if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
                    raise Misconfigured(
                        f"{folder} must be a real folder owned by you, not a link; move it away."
                    )
        ignore = home / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n!config.yml\n!.gitignore\n", encoding="utf-8")
        config.run_dir.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Misconfigured(
            f"Cannot write {home}: {reason}; make the project folder writable or free some space."
        ) from error
    return home


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"Cannot read {path}: {error}.") from error
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 1}" if where else ""
        raise Misconfigured(f"{path} is not valid YAML{line}: {getattr(error, 'problem', error)}.") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise Misconfigured(
            f"{path} must hold sections ({', '.join(SECTIONS)}), not a {type(data).__name__}."
        )
    return data


def _untrusted(layer: dict[str, Any], root: Path) -> dict[str, Any]:
    where = root / ".cortex" / "config.yml"
    embedding, server = layer.get("embedding"), layer.get("server")
    endpoint = embedding.get("endpoint") if isinstance(embedding, dict) else None
    if endpoint and not is_loopback(str(endpoint)):
        raise Misconfigured(
            f"{where} sets embedding.endpoint to {endpoint!r}, which is not on this machine; a project's file may "
            f"not send your code away. Set CORTEX_EMBEDDING_ENDPOINT or {user_config()} if you want it."
        )
    chunks = server.get("chunks_dir") if isinstance(server, dict) else None
    if chunks and not (root / str(chunks)).resolve().is_relative_to(root):
        raise Misconfigured(
            f"{where} sets server.chunks_dir to {chunks!r}, which is outside the project; set CORTEX_CHUNKS_DIR or "
            f"{user_config()} if you want it."
        )
    return layer


def is_loopback(endpoint: str) -> bool:
    """Whether the URL's host is this machine (localhost, 127.0.0.0/8 or ::1)."""
    host = urllib.parse.urlsplit(endpoint).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_keys(layer: dict[str, Any], source: str) -> None:
    for section, fields in layer.items():
        if section not in SECTIONS:
            raise Misconfigured(
                f"Unknown section {section!r} in {source}{_nearest(section, list(SECTIONS))}."
            )
        if not isinstance(fields, dict):
            raise Misconfigured(
                f"Section {section!r} in {source} must hold settings, not a {type(fields).__name__}."
            )
        known = [f.name for f in dataclasses.fields(SECTIONS[section])]
        for key in fields:
            if key not in known:
                raise Misconfigured(
                    f"Unknown setting {section}.{key} in {source}{_nearest(str(key), known)}."
                )


def _nearest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.0)
    return f"; did you mean {close[0]!r}?" if close else ""


def _from_environment(environ: os._Environ[str] | dict[str, str]) -> dict[str, dict[str, Any]]:
    twins = {
        f"CORTEX_{section}_{f.name}".upper(): (section, f.name)
        for section, cls in SECTIONS.items()
        for f in dataclasses.fields(cls)
    }
    layer: dict[str, dict[str, Any]] = {}
    for name, value in environ.items():
        if not name.startswith("CORTEX_") or name in OWN_VARIABLES or not value:
            continue
        target = ALIASES.get(name) or twins.get(name)
        if target is None:
            if name.startswith(tuple(f"CORTEX_{s.upper()}_" for s in SECTIONS)):
                raise Misconfigured(
                    f"Unknown setting {name} in the environment{_nearest(name, list(twins))}."
                )
            continue
        section, key = target
        layer.setdefault(section, {})[key] = _parse(value, get_type_hints(SECTIONS[section])[key])
    return layer


def _parse(text: str, kind: Any) -> Any:
    if kind is bool:
        return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(
            text.lower(), text
        )
    if kind == tuple[str, ...]:
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def _build(section: str, values: dict[str, Any], source: str) -> Any:
    try:
        return msgspec.convert(values, SECTIONS[section])
    except msgspec.ValidationError as error:
        raise Misconfigured(f"Wrong value in section {section!r} of {source}: {error}.") from error


def _check_ranges(config: Config) -> None:
    for name, value, low, high in (
        ("embedding.dimensions", config.embedding.dimensions, 1, 8192),
        ("server.debounce_ms", config.server.debounce_ms, 0, 60_000),
        ("server.deadline_s", config.server.deadline_s, 0.5, 600),
        ("server.idle_exit_s", config.server.idle_exit_s, 0, 7 * 86_400),
        ("indexing.chunk_tokens", config.indexing.chunk_tokens, 32, 8192),
        ("indexing.max_file_kb", config.indexing.max_file_kb, 1, 1_048_576),
        ("indexing.debounce_ms", config.indexing.debounce_ms, 0, 60_000),
        ("fusion.bm25_weight", config.fusion.bm25_weight, 0, 1),
    ):
        if not low <= value <= high:
            raise Misconfigured(f"{name} is {value}; it must be between {low} and {high}.")
