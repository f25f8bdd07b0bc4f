"""Every setting: its type, its default, its bounds, and the values that a project's own file may
set without its user's consent. layers.py reads the values.
"""

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_type_hints

from cortex.settings.plug import LOCAL

#: embedders, each with its name in sentences, and the settings that it does not use
Provider = Literal["static", "sentences", "http", "local", "onnx"]
EMBEDDERS = {
    "static": "the built-in model",
    "sentences": "the built-in model of sentences",
    "http": "a server",
    "onnx": "a model in a folder",
}
UNUSED_BY = {
    "static": ("model", "endpoint", "model_path", "device"),
    "sentences": ("model", "endpoint", "model_path", "device"),
    "http": ("model_path", "device"),
    "onnx": ("endpoint",),
}
#: which agent sessions are read: of projects that use memory, of all projects, none
Sessions = Literal["project", "all", "off"]
#: when to seal memory: with the index, always, or never
SealsMemory = Literal["index", "on", "off"]

#: address of an embedding server if none is configured; its short form has no path
ENDPOINT_DEFAULT = "http://localhost:8121/embed"
#: endpoints that a project's file may set without consent
ENDPOINTS_OPEN = ("", ENDPOINT_DEFAULT, ENDPOINT_DEFAULT.removesuffix("/embed"))


@dataclass(frozen=True, slots=True)
class Rule:
    """The limits of one setting besides its type. `harmless` tests a value in a project's file
    before its user has agreed to the file: it comes with a clone, and its author may be hostile.
    """

    #: bounds of a number, for every source
    low: float = -math.inf
    high: float = math.inf
    #: whether an untrusted file may set this value
    harmless: Callable[[Any], bool] = lambda _value: True
    #: effect of a value that is not harmless, for the person who decides on consent
    effect: str = ""
    #: whether it belongs to the person, for all projects: a project's file never sets it
    personal: bool = False
    #: for such a setting, the values that a project's file may set for its own project
    of_project: Callable[[Any], bool] = lambda _value: False


#: the rules of an unrestricted setting, and of each setting of an engine of another package
FREE, OF_PLUG = Rule(), Rule(personal=True)


def _up_to(most: float) -> Callable[[float], bool]:
    return lambda value: value <= most


def _one_of(*values: Any) -> Callable[[Any], bool]:
    return lambda value: value in values


@dataclass(frozen=True, slots=True)
class Embedding:
    provider: Annotated[
        Provider,
        Rule(
            harmless=_one_of("static", "sentences", "http"),
            effect="starts a server, on that port, or loads the model in embedding.model_path",
        ),
    ] = "static"
    endpoint: Annotated[
        str,
        Rule(harmless=_one_of(*ENDPOINTS_OPEN), effect="sends the project's text and every question there"),
    ] = ""
    model: Annotated[
        str,
        Rule(
            harmless=lambda name: "@" not in name,
            effect="says that the server's vectors are those of exactly that model, in other projects too",
        ),
    ] = ""
    dimensions: Annotated[int, Rule(1, 8192)] = 384
    #: a folder, relative to the project; ~ is the home folder
    model_path: Annotated[
        str, Rule(harmless=_one_of(""), effect="loads the model in that folder, by a library in native code")
    ] = ""
    device: Annotated[str, Rule(harmless=_one_of("cpu"), effect="takes that graphics card's memory")] = "cpu"

    @property
    def quick(self) -> bool:
        """Whether queries embed so fast (0.04 ms) that the vector worker does it itself."""
        return self.provider == "static"


@dataclass(frozen=True, slots=True)
class NoteEmbedding(Embedding):
    """Notes are few and short: a model of sentences reads them within milliseconds."""

    provider: Provider = "sentences"


@dataclass(frozen=True, slots=True)
class Server:
    #: "" is our own folder in the cache, next to which the project's `.cortex/chunks` is read
    chunks_dir: Annotated[
        str,
        Rule(
            harmless=_one_of(""),
            effect="writes chunk files there, and believes those that are there or come there",
        ),
    ] = ""
    #: folders of projects in which files of other programs are trusted; "1": in every project
    trust_chunks: Annotated[tuple[str, ...], Rule(personal=True)] = ()
    auto_index: bool = True
    debounce_ms: Annotated[int, Rule(0, 60_000)] = 500
    deadline_s: Annotated[float, Rule(0.5, 600, _up_to(60), "lets one call take that many seconds")] = 10.0
    idle_exit_s: Annotated[
        float,
        Rule(
            0,
            7 * 86_400,
            _up_to(3600),
            "leaves the workers running for that many seconds after the last call",
        ),
    ] = 600.0
    toolsets: Annotated[
        tuple[str, ...],
        Rule(
            harmless=lambda names: set(names) <= {"agent", "code", "memory"},
            effect="offers agents more tools",
        ),
    ] = ("code", "memory")
    answer_tokens: Annotated[
        int, Rule(100, 1_000_000, _up_to(10_000), "fills an agent's context with that many tokens an answer")
    ] = 1_500
    #: whether queries are recorded in the project's cache, for `cortex stats`
    stats: bool = True
    #: whether answers name the commits that last changed the code in them
    history: bool = True


@dataclass(frozen=True, slots=True)
class Indexing:
    include: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    chunk_tokens: Annotated[
        int, Rule(32, 8192, lambda value: value >= 100, "cuts the project into many small chunks")
    ] = 300
    respect_gitignore: Annotated[
        bool,
        Rule(harmless=_one_of(True), effect="indexes what git and your own global ignore file leave out"),
    ] = True
    max_file_kb: Annotated[int, Rule(1, 1_048_576, _up_to(8192), "reads files of that size as a whole")] = (
        1024
    )
    debounce_ms: Annotated[int, Rule(0, 60_000)] = 100


@dataclass(frozen=True, slots=True)
class Fusion:
    bm25_weight: Annotated[float, Rule(0, 1)] = 0.45


@dataclass(frozen=True, slots=True)
class Memory:
    #: "": `memory` in CORTEX_HOME, without that ~/.cortex/default
    data_dir: Annotated[str, Rule(personal=True)] = ""
    #: PostgreSQL server of a team's memory, or $NAME of a variable; "": the folder
    database: Annotated[str, Rule(personal=True)] = ""
    #: name of the team in that database
    team: Annotated[str, Rule(personal=True)] = "cortex"
    #: remotes whose clones count as one project
    remotes: Annotated[tuple[str, ...], Rule(personal=True)] = ()
    sessions: Annotated[Sessions, Rule(personal=True, of_project=_one_of("off"))] = "project"
    #: whether the last commits are stored as notes
    git: Annotated[bool, Rule(personal=True, of_project=_one_of(False))] = False
    #: hours between two runs of upkeep; 0: only on request
    upkeep_hours: Annotated[float, Rule(0, 720, personal=True)] = 1.0
    forgetting: Annotated[bool, Rule(personal=True)] = False
    #: days after which a note is marked as deleted; 0: never
    retention_days: Annotated[int, Rule(0, 36_500, personal=True)] = 0
    cleanup_superseded: Annotated[bool, Rule(personal=True)] = False


@dataclass(frozen=True, slots=True)
class Security:
    #: whether worker processes run in a sandbox
    sandbox: Annotated[bool, Rule(personal=True)] = False
    #: whether data derived from the sources is sealed on the disk; a project may ask for it
    encrypt_index: Annotated[bool, Rule(personal=True, of_project=_one_of(True))] = False
    #: whether to seal memory; `index`: as the person, not a project, set encrypt_index
    encrypt_memory: Annotated[SealsMemory, Rule(personal=True)] = "index"
    #: whether plain bytes may be on the disk while they are served, on systems without a file
    #: system in memory
    plain_runtime: Annotated[bool, Rule(personal=True)] = False
    #: file with the master key, in place of the keychain; ~ is the home folder
    key_path: Annotated[str, Rule(personal=True)] = ""


@dataclass(frozen=True, slots=True)
class Engines:
    #: "local", or the name of an installed engine (plug.py)
    vector: Annotated[str, Rule(personal=True)] = LOCAL
    text: Annotated[str, Rule(personal=True)] = LOCAL


#: the embedder of memory; in a file `embedding` inside `memory`
MEMORY_EMBEDDING = "memory.embedding"

SECTIONS: dict[str, type] = {
    "embedding": Embedding,
    "server": Server,
    "indexing": Indexing,
    "fusion": Fusion,
    "memory": Memory,
    MEMORY_EMBEDDING: NoteEmbedding,
    "security": Security,
    "engines": Engines,
}


@functools.cache
def rules(section: str) -> Mapping[str, Rule]:
    """Return field → rule for the settings of one section."""
    if section not in SECTIONS:
        return defaultdict(lambda: OF_PLUG)
    hints = get_type_hints(SECTIONS[section], include_extras=True)
    by_name = {
        name: next(
            (annotation for annotation in getattr(hint, "__metadata__", ()) if isinstance(annotation, Rule)),
            FREE,
        )
        for name, hint in hints.items()
    }
    if section != MEMORY_EMBEDDING:
        return by_name
    return {name: Rule(rule.low, rule.high, personal=True) for name, rule in by_name.items()}
