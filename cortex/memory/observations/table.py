"""The observation tools as operations, one for each row of `cortex.terms.observations`."""

import functools
import inspect
from collections.abc import Callable, Generator, Mapping
from typing import Any

import msgspec

from cortex.memory.library import Library
from cortex.memory.observations import analysis, conversations, edits, exports, health, reads
from cortex.memory.observations.bounds import bound_answer, bound_when_done
from cortex.memory.transcripts import sessions
from cortex.memory.upkeep import run
from cortex.terms.observations import REQUIRED, ROWS, fields_of, read_bounds

#: long work is a generator of slices
Answer = dict[str, Any] | Generator[None, None, dict[str, Any]]
Function = Callable[[Library, Mapping[str, Any]], Answer]


def _with_arguments(function: Callable[..., Answer]) -> Function:
    """A function with named arguments, as one that takes all arguments of the call."""
    names = inspect.signature(function).parameters.keys()
    return lambda library, arguments: function(
        library, **{name: value for name, value in arguments.items() if name in names}
    )


#: tool → its function
FUNCTIONS: Mapping[str, Function] = {
    "search": reads.search,
    "timeline": reads.timeline,
    "get_observation": reads.get_observation,
    "search_sessions": conversations.search_sessions,
    "list_sessions": _with_arguments(sessions.list_sessions),
    **{name: functools.partial(reads.search_about, name) for name in reads.PRIORS},
    "find_by_concept": functools.partial(reads.find_by, "concepts"),
    "find_by_file": reads.find_by_file,
    "find_by_type": functools.partial(reads.find_by, "type"),
    "find_similar_observations": reads.find_similar_observations,
    "find_related_observations": reads.find_related_observations,
    "explain_search_ranking": reads.explain_search_ranking,
    "get_recent_context": reads.get_recent_context,
    "get_context_timeline": reads.timeline,
    "get_timeline_by_query": reads.timeline,
    "get_observations_by_tag": reads.get_observations_by_tag,
    "get_observation_relationships": reads.get_observation_relationships,
    "edit_observation": edits.edit_observation,
    "tag_observation": edits.tag_observation,
    "merge_observations": edits.merge_observations,
    "bulk_delete_observations": edits.bulk_delete_observations,
    "bulk_mark_superseded": edits.bulk_mark_superseded,
    "bulk_boost_observations": edits.bulk_boost_observations,
    "batch_tag_by_pattern": edits.batch_tag_by_pattern,
    "export_observations": exports.export_observations,
    "get_memory_stats": health.get_memory_stats,
    "get_observation_quality": analysis.get_observation_quality,
    "get_data_quality_report": analysis.get_data_quality_report,
    "get_temporal_trends": analysis.get_temporal_trends,
    "get_observation_scoring_breakdown": analysis.get_observation_scoring_breakdown,
    "analyze_observation_importance": analysis.analyze_observation_importance,
    "analyze_search_patterns": analysis.analyze_search_patterns,
    "suggest_consolidations": _with_arguments(run.suggest_consolidations),
    "get_patterns": _with_arguments(run.get_patterns),
    "run_consolidation": _with_arguments(run.run_consolidation),
    "trigger_maintenance": _with_arguments(run.trigger_maintenance),
    "get_maintenance_stats": _with_arguments(run.get_maintenance_stats),
    "check_system_health": health.check_system_health,
}


#: writes that have the same result when they are repeated, so they take no operation id
REPEATABLE = frozenset(("run_consolidation", "trigger_maintenance"))


def run_observation(name: str, library: Library, **arguments: Any) -> Answer:
    """Run a tool on indexes that are up to date, with its arguments checked against their bounds,
    and its answer cut to its tokens. Raises BadRequest.
    """
    checked = read_bounds(name, arguments) | {"operation_id": arguments.get("operation_id", "")}
    library.memory.follow()
    answer = FUNCTIONS[name](library, checked)
    if isinstance(answer, dict):
        return bound_answer(name, answer, checked)
    return bound_when_done(name, answer, checked)


def arguments_of(name: str) -> type[msgspec.Struct]:
    """A struct of the tool's arguments, and the project."""
    fields: list[Any] = [
        (argument, kind) if default is REQUIRED else (argument, kind, default)
        for argument, kind, default in fields_of(name)
        if argument != "project"
    ]
    fields.append(("project", str, ""))
    return msgspec.defstruct(f"{name}_arguments", fields, frozen=True, forbid_unknown_fields=True)


def takes_number(name: str) -> bool:
    """Whether it is done once for each operation id."""
    return ROWS[name].writes and name not in REPEATABLE
