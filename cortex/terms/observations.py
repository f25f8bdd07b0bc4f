"""The observation tools in one table: text and arguments of each. Tools, commands and the memory's
operations are made from it. Pure.

An observation is a note in the form of coding sessions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from cortex.terms.bounds import check_between

#: prefix of a tool's operation in the memory worker
PREFIX = "observation."
#: default and largest number of tokens of an answer, and bytes of JSON that count as one
TOKENS, TOKENS_MAX = 4_000, 50_000
#: notes in one bulk call
BULK_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Between:
    """A default with its bounds. `strict`: other values are refused, else the nearest bound is
    used.
    """

    default: Any
    least: float
    most: float
    strict: bool = False

    def read(self, name: str, value: float) -> float:
        """The value within the bounds. Raises BadRequest for one outside, if `strict`."""
        if self.strict:
            check_between(name, value, self.least, self.most)
        return min(self.most, max(self.least, value))


#: a required argument
REQUIRED: Any = msgspec.NODEFAULT
_TOKENS = Between(TOKENS, 100, TOKENS_MAX)
#: for reports: their keys alone need some tokens
_REPORT_TOKENS = Between(TOKENS, 300, TOKENS_MAX)

_Csv = Annotated[str, Meta(description="Comma-separated.")]
_Id = Annotated[str, Meta(description="Number or id.")]
_Ids = Annotated[tuple[str, ...], Meta(description="Numbers or ids, at most 1 000.")]
_Date = Annotated[str, Meta(description="ISO 8601 or ms.")]
_Count = Annotated[int, Meta(description="Number of results.")]
_Texts = Annotated[tuple[str, ...] | None, Meta(description="Replaces the old ones.")]
_Text = Annotated[str | None, Meta(description="Replaces the old text.")]
_Share = Annotated[float, Meta(description="0 to 1.")]

#: argument → its type and description; an argument means the same in all tools
ARGUMENTS: Mapping[str, Any] = {
    "query": Annotated[str, Meta(description="Question or words.")],
    "type": _Csv,
    "project": Annotated[str, Meta(description='Another project, or "all".')],
    "obs_type": Annotated[str, Meta(description="Types: decision,bugfix.")],
    "concepts": _Csv,
    "files": Annotated[str, Meta(description="Paths, comma-separated.")],
    "match": Annotated[Literal["any", "all"], Meta(description="Match any or all concepts.")],
    "dateStart": _Date,
    "dateEnd": _Date,
    "date_start": _Date,
    "date_end": _Date,
    "orderBy": Annotated[
        Literal["relevance", "date_desc", "date_asc"] | None, Meta(description="Order of results.")
    ],
    "limit": _Count,
    "offset": Annotated[int, Meta(description="Rows to skip.")],
    "cursor": Annotated[str, Meta(description="The `next_cursor` of the page before.")],
    "format": Annotated[Literal["index", "full"], Meta(description="full shows texts.")],
    "max_tokens": Annotated[int, Meta(description="Answer size.")],
    "as_of": Annotated[str, Meta(description="A date: the state at that time.")],
    "include": Annotated[str, Meta(description="superseded, archived.")],
    "anchor_id": Annotated[str, Meta(description="Middle note.")],
    "before": Annotated[int, Meta(description="Older notes.")],
    "after": Annotated[int, Meta(description="Newer notes.")],
    "min_similarity": _Share,
    "min_confidence": _Share,
    "id": _Id,
    "ids": _Ids,
    "source_id": Annotated[str, Meta(description="Note to supersede.")],
    "target_id": Annotated[str, Meta(description="Note to keep.")],
    "superseded_by": Annotated[str, Meta(description="Note that replaces them.")],
    "title": _Text,
    "subtitle": _Text,
    "narrative": _Text,
    "facts": _Texts,
    "files_read": _Texts,
    "files_modified": _Texts,
    "scope": Annotated[Literal["project", "global"] | None, Meta(description="global: all projects.")],
    "tags": Annotated[tuple[str, ...], Meta(description="Tags.")],
    "tag": Annotated[str, Meta(description="Tag, exactly.")],
    "mode": Annotated[Literal["add", "remove", "set"], Meta(description="Change of the tags.")],
    "boost": Annotated[float, Meta(description="Added to the importance.")],
    "delete_vectors": Annotated[bool, Meta(description="No effect: deleted notes are never found.")],
    "top_n": _Count,
    "days": Annotated[int, Meta(description="Number of days, up to today.")],
    "group_by": Annotated[
        Literal["day", "week", "hour_of_day"], Meta(description="Unit of time, in UTC; ISO weeks.")
    ],
    "max_depth": Annotated[int, Meta(description="Steps from the note.")],
    "max_matches": _Count,
    "pattern": Annotated[str, Meta(description="In title, subtitle, narrative and facts.")],
    "regex": Annotated[bool, Meta(description="The pattern is a regular expression.")],
    "dry_run": Annotated[bool, Meta(description="Report the changes, and make none.")],
    "cycle": Annotated[
        Literal["all", "decay", "associations", "forgetting"], Meta(description="All steps, or one.")
    ],
    "workstation_id": Annotated[str, Meta(description="Workstation id, as in the rows.")],
    "project_id": Annotated[str, Meta(description="Id of another project.")],
    "include_top_scored": Annotated[bool, Meta(description="Include this part.")],
    "include_most_retrieved": Annotated[bool, Meta(description="Include this part.")],
    "include_concept_weights": Annotated[bool, Meta(description="Include this part.")],
}
#: arguments with another meaning in one tool
_TOOL_ARGUMENTS: Mapping[tuple[str, str], Any] = {
    ("search", "type"): Annotated[
        Literal["observations", "sessions", "prompts"], Meta(description="What to search.")
    ],
    ("edit_observation", "concepts"): _Texts,
    ("get_patterns", "type"): Annotated[
        str, Meta(description="workflow, preference, best_practice, anti_pattern, tooling …")
    ],
    ("export_observations", "format"): Annotated[
        Literal["json", "jsonl", "markdown"], Meta(description="`cortex memory import` reads jsonl.")
    ],
}


@dataclass(frozen=True, slots=True)
class Row:
    """A tool: title, text, argument → default, REQUIRED or Between. `writes`: to the store."""

    title: str
    text: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    writes: bool = False


#: the offset of a page
_OFFSET = Between(0, 0, 1_000_000, strict=True)
#: the default of an argument in most tools; of all others it is ""
_DEFAULTS: Mapping[str, Any] = {
    "before": Between(10, 0, 100),
    "after": Between(10, 0, 100),
    "dry_run": False,
    "format": "index",
    "match": "any",
    "max_tokens": _TOKENS,
    "offset": _OFFSET,
    "orderBy": None,
}


def _arguments(names: str, **defaults: Any) -> dict[str, Any]:
    """The arguments of a tool in their order: "id!" is required. `defaults`: those of this tool."""
    defaults = {**_DEFAULTS, **defaults}
    return {
        name.rstrip("!"): REQUIRED if name.endswith("!") else defaults.get(name, "") for name in names.split()
    }


def _page(names: str, limit: int = 20, most: int = 100, **defaults: Any) -> dict[str, Any]:
    """The arguments of a tool with pages of rows."""
    return _arguments(
        f"{names} as_of limit offset format max_tokens", limit=Between(limit, 1, most), **defaults
    )


def _list(names: str, limit: int, most: int, **defaults: Any) -> dict[str, Any]:
    """The arguments of a tool with pages of rows of one form."""
    return _arguments(f"{names} limit offset max_tokens", limit=Between(limit, 1, most), **defaults)


def _timeline(names: str) -> dict[str, Any]:
    return _arguments(f"{names} before after project type concepts files as_of format max_tokens")


_TOPIC_PAGE = _page("query! project dateStart dateEnd")

ROWS: Mapping[str, Row] = {
    "search": Row(
        "Search observations",
        "Search earlier sessions' observations by question and filters, or by filters alone.\n"
        'Example: {"query": "retries", "obs_type": "bugfix"}',
        _page(
            "query type project obs_type concepts files dateStart dateEnd orderBy include",
            type="observations",
        ),
    ),
    "timeline": Row(
        "Show observations by time",
        "Observations before and after one (anchor_id or query's best hit), or between dates.\n"
        'Example: {"query": "the release", "before": 5}',
        _arguments(
            "anchor_id query before after project obs_type concepts files dateStart dateEnd as_of offset "
            "format max_tokens"
        ),
    ),
    "get_observation": Row(
        "Show an observation",
        'One full observation, by the id of a row.\nExample: {"id": "12"}',
        _arguments("id!"),
    ),
    "search_sessions": Row(
        "Search earlier sessions",
        "Search the exchanges of earlier sessions: the best one of each.\n"
        'Example: {"query": "the failing deployment"}',
        _arguments("query! limit offset project max_tokens", limit=Between(10, 1, 50)),
    ),
    "list_sessions": Row(
        "List earlier sessions",
        "Sessions, the newest first.",
        _list("workstation_id project_id", 20, 100),
    ),
    "decisions": Row("Find decisions", "Search observations; decisions rank higher.", _TOPIC_PAGE),
    "changes": Row(
        "Find changes", "Search observations; fixes, features and refactorings rank higher.", _TOPIC_PAGE
    ),
    "how_it_works": Row(
        "Find explanations of how something works",
        "Search observations; discoveries and architecture rank higher.",
        _TOPIC_PAGE,
    ),
    "find_by_concept": Row(
        "Find observations by concept",
        "Observations with any, or all, of some concepts (tags).",
        _page("concepts! match type files project dateStart dateEnd orderBy"),
    ),
    "find_by_file": Row(
        "Find observations by file",
        "Observations that read or modified a file, modified first.",
        _page("files! type concepts project dateStart dateEnd orderBy"),
    ),
    "find_by_type": Row(
        "Find observations by type",
        "Observations of some types: decision, bugfix, feature, refactor, discovery, change.",
        _page("type! concepts files project dateStart dateEnd orderBy"),
    ),
    "find_similar_observations": Row(
        "Find similar observations",
        "Observations similar in meaning to a text, by cosine alone.",
        _list("query! project min_similarity", 10, 50, min_similarity=Between(0.7, 0, 1, strict=True)),
    ),
    "find_related_observations": Row(
        "Find related observations",
        "Observations related to one, the most certain first.",
        _list("id! min_confidence", 20, 100, min_confidence=Between(0.5, 0, 1, strict=True)),
    ),
    "explain_search_ranking": Row(
        "Explain the ranking of a search",
        "Explain a search's ranking: the parts of each score, and the words that matched.",
        _arguments("query! project top_n max_tokens", top_n=Between(5, 1, 20), max_tokens=_REPORT_TOKENS),
    ),
    "get_recent_context": Row(
        "List the newest observations",
        "The newest observations.",
        _page("project type concepts files dateStart dateEnd", 30),
    ),
    "get_context_timeline": Row(
        "Show observations before and after another",
        "Observations before and after a given one.",
        _timeline("anchor_id!"),
    ),
    "get_timeline_by_query": Row(
        "Show observations before and after the best hit",
        "Observations before and after a query's best hit.",
        _timeline("query! dateStart dateEnd"),
    ),
    "get_observations_by_tag": Row(
        "List observations with a tag",
        "Observations with exactly this tag, newest first.",
        _page("tag! project", 50, 200),
    ),
    "get_observation_relationships": Row(
        "List the relations of an observation",
        "All relations within some steps of an observation.",
        _arguments("id! max_depth offset max_tokens", max_depth=Between(2, 1, 5)),
    ),
    "edit_observation": Row(
        "Edit an observation",
        "Change fields of an observation; the old ones stay as a revision.",
        _arguments("id!")
        | dict.fromkeys("title subtitle narrative facts concepts files_read files_modified scope".split()),
        writes=True,
    ),
    "tag_observation": Row(
        "Tag an observation",
        "Add, remove or set the tags of an observation.",
        _arguments("id! tags! mode", mode="add"),
        writes=True,
    ),
    "merge_observations": Row(
        "Merge two observations",
        "Merge one observation into another: its facts, concepts, files, relations move; it is superseded.",
        _arguments("source_id! target_id! boost", boost=Between(0.1, 0, 0.5, strict=True)),
        writes=True,
    ),
    "bulk_delete_observations": Row(
        "Delete observations",
        "Mark observations as deleted; `cortex memory undo` brings them back.",
        _arguments("ids! delete_vectors", delete_vectors=True),
        writes=True,
    ),
    "bulk_mark_superseded": Row(
        "Mark observations as superseded",
        "Mark observations as superseded: no longer true.",
        _arguments("ids! superseded_by"),
        writes=True,
    ),
    "bulk_boost_observations": Row(
        "Change the importance of observations",
        "Raise or lower the importance of observations, within 0 and 1.",
        _arguments("ids! boost", boost=Between(REQUIRED, -1, 1, strict=True)),
        writes=True,
    ),
    "batch_tag_by_pattern": Row(
        "Tag observations by pattern",
        "Tag all observations that contain a text or match a regular expression; a dry run by default.",
        _arguments(
            "pattern! tags! project regex dry_run max_matches",
            regex=False,
            dry_run=True,
            max_matches=Between(100, 1, 500),
        ),
        writes=True,
    ),
    "export_observations": Row(
        "Export observations",
        "Observations as JSON, JSON lines or Markdown, page by page.",
        _arguments(
            "format project limit cursor date_start date_end obs_type max_tokens",
            format="json",
            limit=Between(100, 1, 1_000),
            max_tokens=Between(25_000, 1_000, 250_000),
        ),
    ),
    "get_memory_stats": Row(
        "Count observations, sessions and searches",
        "Counts of observations by type, project and state, and of searches.",
    ),
    "get_observation_quality": Row(
        "Rate the quality of an observation",
        "Completeness of an observation, with suggestions.",
        _arguments("id!"),
    ),
    "get_data_quality_report": Row(
        "Rate the quality of the newest observations",
        "Completeness and issues of the newest observations.",
        _arguments("project limit max_tokens", limit=Between(100, 10, 500), max_tokens=_REPORT_TOKENS),
    ),
    "get_temporal_trends": Row(
        "Count observations by time",
        "Counts of observations by day, ISO week or hour (UTC), zeros included.",
        _arguments(
            "project days group_by max_tokens",
            days=Between(30, 1, 365),
            group_by="day",
            max_tokens=_REPORT_TOKENS,
        ),
    ),
    "get_observation_scoring_breakdown": Row(
        "Explain the score of an observation",
        "The legacy score of an observation and its parts, which add up to it.",
        _arguments("id!"),
    ),
    "analyze_observation_importance": Row(
        "List the most important observations",
        "The most important and most used observations, and counts of ratings.",
        {
            "project": "",
            **dict.fromkeys(
                ("include_top_scored", "include_most_retrieved", "include_concept_weights"), True
            ),
            "limit": Between(10, 1, 50),
            "max_tokens": _REPORT_TOKENS,
        },
    ),
    "analyze_search_patterns": Row(
        "List frequent and fruitless searches",
        "Most frequent queries, and those without hits.",
        {"days": Between(7, 1, 30), "top_n": Between(10, 1, 50), "max_tokens": _REPORT_TOKENS},
    ),
    "suggest_consolidations": Row(
        "List observations that could be merged",
        "Groups of nearly equal observations that could be merged; nothing is changed.",
        _list(
            "project min_similarity",
            10,
            50,
            min_similarity=Between(0.8, 0.5, 1, strict=True),
            max_tokens=_REPORT_TOKENS,
        ),
    ),
    "get_patterns": Row(
        "List recurring patterns",
        "Patterns that recur in several sessions.",
        _list("type project query", 20, 100, max_tokens=_REPORT_TOKENS),
    ),
    "run_consolidation": Row(
        "Run upkeep of memory",
        "Run upkeep: relate notes, find patterns, fade relevance, forget if that is on.",
        _arguments("cycle dry_run", cycle="all"),
        writes=True,
    ),
    "trigger_maintenance": Row(
        "Delete expired observations",
        "Delete notes older than the settings allow; optimise the store.",
        _arguments("dry_run"),
        writes=True,
    ),
    "get_maintenance_stats": Row("Show the results of upkeep", "Upkeep's runs and totals."),
    "check_system_health": Row("Check the health of memory", "Health of database, indexes, workers, disk."),
}


def fields_of(name: str) -> list[tuple[str, Any, Any]]:
    """(argument, its type, its default or REQUIRED) of a tool's arguments, required ones first."""
    row = ROWS[name]
    fields = [
        (
            argument,
            _TOOL_ARGUMENTS.get((name, argument), ARGUMENTS[argument]),
            value.default if isinstance(value, Between) else value,
        )
        for argument, value in row.arguments.items()
    ]
    return sorted(fields, key=lambda entry: entry[2] is not REQUIRED)


def read_bounds(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments within their bounds. Raises BadRequest for a strict one outside."""
    read = dict(arguments)
    for argument, bounds in ROWS[name].arguments.items():
        if isinstance(bounds, Between) and read.get(argument) is not None:
            value = bounds.read(argument, read[argument])
            read[argument] = int(value) if isinstance(arguments[argument], int) else value
    return read
