"""The operations of memory for people: each is a command `cortex memory …` and not a tool."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.front.form import Form, Word
from cortex.front.text import memory_lists as lists
from cortex.front.text import memory_reports as reports
from cortex.front.text.memory import NOTES, WRITTEN
from cortex.front.tools.code.search import cortex_search
from cortex.front.tools.memory.arguments import LIMIT, AsOf, Limit, Whose, drop_empty
from cortex.front.tools.memory.place_checks import judge_rows
from cortex.front.tools.memory.store import cortex_store
from cortex.settings.folders.identity import identity_of
from cortex.settings.reference import read_reference
from cortex.system.errors import EXIT_UNAVAILABLE, BadRequest, NotFound

Id = Annotated[str, Meta(description="Number or id of a note.")]


_NOTE = Word("node_id", "note")
FORMS = {
    "memory_search": Form(text=NOTES, words=(Word("query", "question"),)),
    "memory_timeline": Form(
        people_text=lists.draw_timeline,
        has_hits=lambda answer: bool(answer["items"]),
        words=(Word("query", "question", optional=True, other="anchor", is_other=str.isdecimal),),
    ),
    "memory_undo": Form(people_text=reports.draw_undone, words=(Word("undone", "operation", optional=True),)),
    "memory_history": Form(people_text=lists.draw_history, words=(Word("node_id", "note", optional=True),)),
    "memory_session": Form(people_text=lists.draw_session, words=(Word("session_id", "session"),)),
    "memory_list": Form(people_text=lists.draw_timeline, has_hits=lambda answer: bool(answer["items"])),
    "memory_edit": Form(text=WRITTEN, words=(_NOTE,), from_stdin="body"),
    "memory_show": Form(people_text=lists.draw_node, words=(_NOTE,)),
    "memory_forget": Form(text=WRITTEN, words=(_NOTE,), is_long=True),
    "memory_rate": Form(text=WRITTEN, words=(_NOTE, Word("value", "value", optional=True))),
    "memory_link": Form(people_text=reports.draw_link, words=(Word("other", "other", optional=True),)),
    "memory_import": Form(
        people_text=reports.draw_imported,
        has_hits=lambda answer: any(
            answer[name]
            for name in ("notes", "edges", "exchanges", "known", "merged", "forgotten", "proposed")
        ),
        words=(Word("file", "file"),),
        way="in",
        is_long=True,
    ),
    "memory_export": Form(
        people_text=reports.draw_exported, words=(Word("file", "file"),), way="out", is_long=True
    ),
    "memory_backup": Form(people_text=reports.draw_backed_up, is_long=True),
    "memory_restore": Form(
        people_text=reports.draw_restored, words=(Word("file", "file", optional=True),), is_long=True
    ),
    "memory_migrate": Form(people_text=reports.draw_migrated, is_long=True),
    "memory_doctor": Form(
        people_text=reports.draw_findings,
        has_hits=lambda answer: bool(answer["healthy"]),
        not_found=EXIT_UNAVAILABLE,
        is_long=True,
    ),
    "memory_consolidate": Form(people_text=reports.draw_upkeep, is_long=True),
    "memory_maintain": Form(people_text=reports.draw_upkeep, is_long=True),
    "memory_stats": Form(people_text=reports.draw_stats),
}


async def memory_search(
    context: QueryContext,
    *,
    query: Annotated[str, Meta(description="A question or words.")],
    limit: Limit = LIMIT,
    kind: Annotated[str, Meta(description="Only notes of this kind.")] = "",
    tags: Annotated[tuple[str, ...], Meta(description="Only notes with any of these tags.")] = (),
    as_of: AsOf = "",
    project: Whose = "",
) -> dict[str, Any]:
    """Search notes by words and meaning, without their neighbours."""
    return await cortex_search(
        context, query=query, scope="memory", limit=limit, kind=kind, tags=tags, as_of=as_of, project=project
    )


async def memory_list(
    context: QueryContext,
    *,
    kind: Annotated[str, Meta(description="Only notes of this kind.")] = "",
    tags: Annotated[tuple[str, ...], Meta(description="Only notes with any of these tags.")] = (),
    limit: Limit = 20,
    offset: Annotated[int, Meta(description="Notes to skip.")] = 0,
    project: Whose = "",
) -> dict[str, Any]:
    """List notes, the newest first."""
    page = {"limit": limit, "offset": offset, "newest_first": True}
    answer = await context.remember(
        "timeline", drop_empty(kind=kind, tags=tags or None, project=project) | page
    )
    if answer["items"]:
        return answer
    filtered = kind or tags or offset or project
    message = "There are no such notes." if filtered else "This project has no notes."
    return {"message": message} | answer


async def memory_edit(
    context: QueryContext,
    *,
    node_id: Id,
    title: Annotated[str, Meta(description="New title.")] = "",
    body: Annotated[str | None, Meta(description="New body; - reads standard input.")] = None,
    kind: Annotated[str, Meta(description="New kind, such as fact or decision.")] = "",
    tags: Annotated[tuple[str, ...] | None, Meta(description="New tags, in place of the old ones.")] = None,
    importance: Annotated[float | None, Meta(description="New importance, 0 to 1.")] = None,
    facts: Annotated[tuple[str, ...] | None, Meta(description="New facts, in place of the old ones.")] = None,
    files: Annotated[tuple[str, ...] | None, Meta(description="New paths, in place of the old ones.")] = None,
    scope: Annotated[
        Literal["project", "global"] | None, Meta(description="Projects that see the note.")
    ] = None,
    state: Annotated[
        Literal["active", "superseded", "archived", "deleted"] | None, Meta(description="New state.")
    ] = None,
) -> dict[str, Any]:
    """Change fields of a note; `cortex memory history` shows the former values, `cortex memory
    undo` restores them.
    """
    fields = drop_empty(
        title=title,
        body=body,
        kind=kind,
        tags=tags,
        importance=importance,
        facts=facts,
        files=files,
        scope=scope,
        state=state,
    )
    if not fields:
        raise BadRequest("Nothing to change. Pass a field of the note, such as --title or --body.")
    return await cortex_store(context, id=node_id, **fields)


async def memory_show(context: QueryContext, *, node_id: Id) -> dict[str, Any]:
    """Show a note with its edges and the notes at their other ends."""
    [note] = await judge_rows(context, [await context.remember("node", {"node_id": node_id})])
    return note


async def memory_forget(
    context: QueryContext,
    *,
    node_id: Annotated[
        str, Meta(description="Number or id of a note; with --hard also the id of a session or an exchange.")
    ],
    hard: Annotated[
        bool,
        Meta(
            description="Delete for good: also history, index entries, edges and the exchanges of a session; no import "
            "and no transcript restores it."
        ),
    ] = False,
    backups: Annotated[bool, Meta(description="With --hard: delete from the back-ups as well.")] = False,
) -> dict[str, Any]:
    """Mark a note as deleted: no query finds it, `cortex memory show` still prints it, `cortex
    memory undo` restores it.
    """
    if hard:
        return await context.remember("erase", {"node_ids": [node_id], "back_ups": backups})
    if backups:
        raise BadRequest("`backups` goes with `hard`: a note that is only marked stays in the back-ups.")
    try:
        return await context.remember("forget", {"node_id": node_id})
    except NotFound as error:
        if "-" not in node_id:
            raise
        raise NotFound(f"{error} To delete a session or an exchange, add --hard.") from error


async def memory_import(
    context: QueryContext,
    *,
    file: Annotated[
        str,
        Meta(
            description="An export of Cortex or of another memory program, a Markdown file or a folder; - reads "
            "standard input."
        ),
    ],
    trusted: Annotated[
        bool, Meta(description="Accept the authors that the file names; for exports of your own.")
    ] = False,
    project: Whose = "",
) -> dict[str, Any]:
    """Store the notes of a file; notes in the store stay. Unreadable lines are reported, all others
    are stored.
    """
    arguments = drop_empty(file=_absolute(file), trusted=trusted or None, project=project)
    return await context.remember("import", arguments)


async def memory_export(
    context: QueryContext,
    *,
    file: Annotated[str, Meta(description="The file to write, as lines of JSON; - writes standard output.")],
    markdown: Annotated[
        bool, Meta(description="Write a folder of Markdown files instead, one a note, without history.")
    ] = False,
    project: Whose = "",
) -> dict[str, Any]:
    """Write the notes of this project, with edges and history, to a file for `import`."""
    if markdown:
        arguments = drop_empty(folder=_absolute(file), project=project)
        return await context.remember("export_markdown", arguments)
    return await context.remember("export", drop_empty(file=_absolute(file), project=project))


async def memory_backup(context: QueryContext) -> dict[str, Any]:
    """Copy the store to its folder `backups`, which keeps the newest three copies. A copy is also
    made on each day with changes.
    """
    return await context.remember("backup")


async def memory_restore(
    context: QueryContext,
    *,
    file: Annotated[str, Meta(description="Name of a back-up; by default the newest complete one.")] = "",
) -> dict[str, Any]:
    """Replace a damaged store by a back-up; the damaged file stays next to it."""
    return await context.remember("restore", drop_empty(file=file))


async def memory_migrate(
    context: QueryContext,
    *,
    to: Annotated[
        str,
        Meta(
            description="Address of a PostgreSQL server, $NAME of a variable with the address, or a folder; without a "
            "memory."
        ),
    ],
    team: Annotated[str, Meta(description="Team that owns the memory there; by default memory.team.")] = "",
) -> dict[str, Any]:
    """Copy memory to another place with its ids and numbers, and compare both. The source does not
    change; afterwards set memory.database (or memory.data_dir) to the new place.
    """
    place = read_reference(to, "--to")
    arguments = drop_empty(to=place if "://" in place else _absolute(place), team=team)
    return await context.remember("migrate", arguments)


async def memory_doctor(
    context: QueryContext, *, mend: Annotated[bool, Meta(description="Repair the indexes.")] = True
) -> dict[str, Any]:
    """Compare the store with its indexes, and repair differences."""
    return await context.remember("doctor", {"mend": mend})


def _project_of(project: str, remotes: tuple[str, ...]) -> str:
    """Return the identity of the project in a folder, the absolute path of a folder that is gone,
    or `project` itself if it is no path.
    """
    folder = Path(project or "nowhere").expanduser()
    if project and folder.is_dir():
        return identity_of(folder.resolve(), remotes)
    return str(folder.resolve()) if os.sep in project else project


def _absolute(file: str) -> str:
    """Return the absolute path of a file: the worker has another working folder."""
    return str(Path(file).expanduser().absolute())


async def memory_timeline(
    context: QueryContext,
    *,
    query: Annotated[str, Meta(description="A question that finds the note in the middle.")] = "",
    anchor: Annotated[str, Meta(description="Number or id of the note in the middle.")] = "",
    before: Annotated[int, Meta(description="Number of earlier notes.")] = 10,
    after: Annotated[int, Meta(description="Number of later notes.")] = 10,
    since: Annotated[str, Meta(description="First date, without a note in the middle.")] = "",
    until: Annotated[str, Meta(description="Last date.")] = "",
    kind: Annotated[str, Meta(description="Only notes of this kind.")] = "",
    tags: Annotated[tuple[str, ...], Meta(description="Only notes with any of these tags.")] = (),
    limit: Annotated[int, Meta(description="Most notes between two dates.")] = 20,
    offset: Annotated[int, Meta(description="Notes to skip.")] = 0,
    newest_first: Annotated[bool, Meta(description="Newest notes first.")] = False,
    project: Whose = "",
) -> dict[str, Any]:
    """Show notes in order of time: before and after one note, or between two dates."""
    arguments = drop_empty(
        query=query, anchor=anchor, since=since, until=until, kind=kind, tags=tags or None, project=project
    )
    counts = {"before": before, "after": after, "limit": limit, "offset": offset}
    return await context.remember("timeline", arguments | counts | {"newest_first": newest_first})


async def memory_history(
    context: QueryContext,
    *,
    node_id: Annotated[
        str, Meta(description="Number or id of a note; by default the latest operations.")
    ] = "",
    limit: Annotated[int, Meta(description="Most operations, 1 to 100.")] = 20,
    project: Whose = "",
) -> dict[str, Any]:
    """Show the revisions of a note, the reasons of its edges, and the operations that `undo` can
    revert; without a note the latest operations.
    """
    return await context.remember("history", drop_empty(node_id=node_id, limit=limit, project=project))


async def memory_session(
    context: QueryContext,
    *,
    session_id: Annotated[str, Meta(description="Id of a session, ours or that of the agent.")],
    offset: Annotated[int, Meta(description="Exchanges to skip.")] = 0,
    limit: Annotated[int, Meta(description="Most exchanges, 1 to 50.")] = 20,
    project: Whose = "",
) -> dict[str, Any]:
    """Show the exchanges of a session, and the notes from it."""
    arguments = {"session_id": session_id, "offset": offset, "limit": limit}
    return await context.remember("read_session", arguments | drop_empty(project=project))


async def memory_undo(
    context: QueryContext,
    *,
    undone: Annotated[str, Meta(description="Number of an operation; by default the latest.")] = "",
) -> dict[str, Any]:
    """Revert the latest operation, or another by its number."""
    return await context.remember("undo", drop_empty(undone=undone))


async def memory_rate(
    context: QueryContext,
    *,
    node_id: Id,
    value: Annotated[int, Meta(description="1: useful, -1: useless, 0: neither.")] = 1,
) -> dict[str, Any]:
    """Rate a note; by default as useful."""
    return await context.remember("rate", {"node_id": node_id, "value": value})


async def memory_link(
    context: QueryContext,
    *,
    other: Annotated[str, Meta(description="Folder of the other project, or its name in the list.")] = "",
    remove: Annotated[bool, Meta(description="Give this project notes of its own again.")] = False,
) -> dict[str, Any]:
    """Share notes with another clone of this project. Without the other project: list the projects
    that have notes.
    """
    if other and remove:
        raise BadRequest("Pass the other project or `remove`, not both.")
    arguments = drop_empty(other=_project_of(other, context.config.memory.remotes), remove=remove or None)
    return await context.remember("link", arguments)


DryRun = Annotated[bool, Meta(description="Report the changes, and make none.")]


async def memory_consolidate(
    context: QueryContext,
    *,
    cycle: Annotated[
        Literal["all", "decay", "associations", "forgetting"], Meta(description="All steps, or one of them.")
    ] = "all",
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Run upkeep: relate changed notes, flag contradictions, find patterns, fade unused notes. One
    run takes at most 500 notes.
    """
    return await context.remember("run_consolidation", {"cycle": cycle, "dry_run": dry_run})


async def memory_maintain(context: QueryContext, *, dry_run: DryRun = False) -> dict[str, Any]:
    """Mark notes as deleted that are older than the settings allow, once a run has listed them, and
    compact the store.
    """
    return await context.remember("trigger_maintenance", {"dry_run": dry_run})


async def memory_stats(context: QueryContext) -> dict[str, Any]:
    """Count the notes of this project by kind and state."""
    return await context.remember("stats")
