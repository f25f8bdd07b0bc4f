"""Messages of the graph worker."""

from typing import Any, Literal

from msgspec import field

from ipc.messages.control import Blobs, Message, repeatable

GraphOperation = Literal[
    "implementations", "callers", "callees", "dependencies", "dependents", "type_usages", "path",
    "impact", "routes",
]  # fmt: skip


@repeatable
class GraphSearch(Message, frozen=True):
    """Request to the graph worker for relations.

    `to` and `by_calls` (at most `depth` calls, no other edges) are for the operation path only;
    `scope` is a glob, "" for all files; `offset` results are skipped. `within`: a folder; of an
    ambiguous name, it selects the definition in that folder, if any. `recursive`: callers of a
    definition include itself. `ends`: each place of a result has the ids of the definitions that it
    may mean. `tests_last`: an impact in which examples and tests come last, and `max_per_level` has
    no effect. `bare`: the results alone, without sentences, unresolved uses, and names near an
    unknown target.
    """

    operation: GraphOperation
    target: str
    to: str = ""
    scope: str = ""
    exclude_patterns: tuple[str, ...] = ()
    include_context: bool = True
    context_lines: int = 3
    depth: int = 1
    max_results: int = 100
    max_per_level: int = 50
    generation: int = 0
    offset: int = 0
    within: str = ""
    recursive: bool = False
    ends: bool = False
    tests_last: bool = False
    bare: bool = False
    by_calls: bool = False


@repeatable
class OutlineSearch(Message, frozen=True):
    """Request to the graph worker for the symbols of a file or folder ("" for the whole project).

    The results have at most `max_bytes` together.
    """

    path: str = ""
    max_bytes: int = 16_000
    generation: int = 0


@repeatable
class PatternSearch(Message, frozen=True):
    """Request to the graph worker for the places in files of `language` that match `pattern` (of
    ast-grep).

    `within`: a folder, "" for the project.
    """

    pattern: str
    language: str
    paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    limit: int = 50
    generation: int = 0
    within: str = ""


@repeatable
class NameSearch(Message, frozen=True):
    """Request to the graph worker for paths, or names of definitions, that begin with `prefix`.

    `within`: only files in this folder, with paths relative to it.
    """

    prefix: str
    kind: Literal["path", "symbol"] = "path"
    limit: int = 100
    generation: int = 0
    within: str = ""


class GraphHits(Message, frozen=True):
    """Reply to GraphSearch, OutlineSearch, PatternSearch and NameSearch (`candidates`).

    `results` are JSON, `paths` the file that each was cut from. `target` is the resolved id, "" if
    it is unknown or `ambiguous`: `candidates` are then ids to choose from; with a target they are
    further meanings of its name. `next_offset` is the start of the next page of a GraphSearch, 0 if
    there is none. `unresolved`, of callers, implementations and type_usages: the unresolved uses of
    the target's last name: `name`, their number `total`, and the `places` of the first
    UNRESOLVED_MAX, [file, line].
    """

    generation: int = 0
    target: str = ""
    paths: tuple[str, ...] = ()
    total_found: int = 0
    truncated: bool = False
    suggestion: str = ""
    candidates: tuple[str, ...] = ()
    summary: dict[str, Any] = field(default_factory=dict)
    results: Blobs = ()
    next_offset: int = 0
    unresolved: dict[str, Any] = field(default_factory=dict)
    ambiguous: bool = False
