"""What people ask of memory and agents do not: each is a command `cortex memory …`, made as the
commands of tools are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from cortex.ask.query_context import Asking
from cortex.front.tools.code.search import cortex_search
from cortex.front.tools.memory.arguments import LIMIT, AsOf, Limit, Whose, given
from cortex.front.tools.memory.place_checks import judged
from cortex.settings.identity import identity_of
from cortex.settings.reference import read_reference
from cortex.system.errors import BadRequest, NotFound

Id = Annotated[str, Meta(description="A note's number or id.")]


async def memory_search(
    asking: Asking,
    *,
    query: Annotated[str, Meta(description="A question, or words.")],
    limit: Limit = LIMIT,
    kind: Annotated[str, Meta(description="Notes of this kind alone.")] = "",
    tags: Annotated[tuple[str, ...], Meta(description="Notes with any of these.")] = (),
    as_of: AsOf = "",
    project: Whose = "",
) -> dict[str, Any]:
    """Search notes by meaning and words, without what is connected to them."""
    return await cortex_search(
        asking, query=query, scope="memory", limit=limit, kind=kind, tags=tags, as_of=as_of, project=project
    )


async def memory_show(asking: Asking, *, node_id: Id) -> dict[str, Any]:
    """Show a note whole, with its edges and the notes at their other ends."""
    [told] = await judged(asking, [await asking.remember("node", {"node_id": node_id})])
    return told


async def memory_forget(
    asking: Asking,
    *,
    node_id: Annotated[
        str, Meta(description="A note's number or id; with --hard also the id of a session or an exchange.")
    ],
    hard: Annotated[
        bool,
        Meta(
            description="For good: its history, index entries and edges too, and what was said for it in a session; no "
            "import and no transcript brings it back."
        ),
    ] = False,
    backups: Annotated[bool, Meta(description="With --hard: out of the back-ups as well.")] = False,
) -> dict[str, Any]:
    """Mark a note as deleted: no question finds it any more; `show` still does, and `undo` brings
    it back.
    """
    if hard:
        return await asking.remember("erase", {"node_ids": [node_id], "back_ups": backups}, writes=True)
    if backups:
        raise BadRequest("`backups` goes with `hard`: a note that is only marked stays in the back-ups.")
    try:
        return await asking.remember("forget", {"node_id": node_id}, writes=True)
    except NotFound as error:
        if "-" not in node_id:
            raise
        raise NotFound(f"{error} What was said in a session is forgotten for good alone: --hard.") from error


async def memory_import(
    asking: Asking,
    *,
    file: Annotated[
        str,
        Meta(
            description="An export, memory.json of the reference memory server, a Markdown file or a folder; - "
            "is standard input."
        ),
    ],
    trusted: Annotated[
        bool, Meta(description="Believe what the file says about who wrote its notes: an export of your own.")
    ] = False,
    project: Whose = "",
) -> dict[str, Any]:
    """Store the notes of a file; what is there already stays. Lines that cannot be read are named,
    the others are in.
    """
    asked = given(file=_place(file), trusted=trusted or None, project=project)
    return await asking.remember("import", asked, writes=True)


async def memory_export(
    asking: Asking,
    *,
    file: Annotated[str, Meta(description="The file to write, lines of JSON; - is standard output.")],
    project: Whose = "",
) -> dict[str, Any]:
    """Write the notes of this project, with their edges and history, to a file for `import`."""
    return await asking.remember("export", given(file=_place(file), project=project))


async def memory_backup(asking: Asking) -> dict[str, Any]:
    """Copy the store to its folder `backups`, of which the newest three stay. One is made every day
    on which something changed.
    """
    return await asking.remember("backup")


async def memory_restore(
    asking: Asking,
    *,
    file: Annotated[
        str, Meta(description="A back-up by its name; by default the newest that is whole.")
    ] = "",
) -> dict[str, Any]:
    """Put a back-up in the place of a damaged store, which is kept beside it."""
    return await asking.remember("restore", given(file=file), writes=True)


async def memory_migrate(
    asking: Asking,
    *,
    to: Annotated[
        str,
        Meta(
            description="The address of a PostgreSQL server, $NAME of a variable that holds it, or a folder; no memory "
            "is there yet."
        ),
    ],
    team: Annotated[str, Meta(description="Whose memory it is there; by default memory.team.")] = "",
) -> dict[str, Any]:
    """Copy all of memory to another place, ids and numbers kept, and compare what arrived. What is
    here stays; afterwards set memory.database (or memory.data_dir) to the new place.
    """
    place = read_reference(to, "--to")
    asked = given(to=place if "://" in place else _place(place), team=team)
    return await asking.remember("migrate", asked, writes=True)


async def memory_doctor(
    asking: Asking,
    *,
    mend: Annotated[bool, Meta(description="Make again what can be made again.")] = True,
) -> dict[str, Any]:
    """Compare the store with its indexes and mend what differs."""
    return await asking.remember("doctor", {"mend": mend})


def _named(project: str, remotes: tuple[str, ...]) -> str:
    """The project of a folder, or of its name as it was typed."""
    folder = Path(project or "nowhere").expanduser()
    return identity_of(folder.resolve(), remotes) if project and folder.is_dir() else project


def _place(file: str) -> str:
    """A file as it was typed, from the working folder: the worker is in another one."""
    return str(Path(file).expanduser().absolute())


async def memory_timeline(
    asking: Asking,
    *,
    query: Annotated[str, Meta(description="What the note in the middle is about.")] = "",
    anchor: Annotated[str, Meta(description="The note in the middle, by number or id.")] = "",
    before: Annotated[int, Meta(description="Notes earlier than that one.")] = 10,
    after: Annotated[int, Meta(description="Notes later than that one.")] = 10,
    since: Annotated[str, Meta(description="Without one in the middle: from this date on.")] = "",
    until: Annotated[str, Meta(description="Until this date.")] = "",
    kind: Annotated[str, Meta(description="Notes of this kind alone.")] = "",
    tags: Annotated[tuple[str, ...], Meta(description="Notes with any of these.")] = (),
    limit: Annotated[int, Meta(description="Notes between two dates.")] = 20,
    offset: Annotated[int, Meta(description="The page's first.")] = 0,
    newest_first: Annotated[bool, Meta(description="The latest first.")] = False,
    project: Whose = "",
) -> dict[str, Any]:
    """Show notes in the order in which things happened: around one, or between two dates."""
    asked = given(
        query=query, anchor=anchor, since=since, until=until, kind=kind, tags=tags or None, project=project
    )
    counts = {"before": before, "after": after, "limit": limit, "offset": offset}
    return await asking.remember("timeline", asked | counts | {"newest_first": newest_first})


async def memory_history(
    asking: Asking,
    *,
    node_id: Annotated[str, Meta(description="A note's number or id; none: what was done last.")] = "",
    limit: Annotated[int, Meta(description="Operations, 1 to 100.")] = 20,
    project: Whose = "",
) -> dict[str, Any]:
    """Show what became of a note: its revisions, why its edges are there, and which operations on
    it can be taken back; without a note the latest operations.
    """
    return await asking.remember("history", given(node_id=node_id, limit=limit, project=project))


async def memory_session(
    asking: Asking,
    *,
    session_id: Annotated[str, Meta(description="A session's id, or its program's name for it.")],
    offset: Annotated[int, Meta(description="The page's first exchange.")] = 0,
    limit: Annotated[int, Meta(description="Exchanges, 1 to 50.")] = 20,
    project: Whose = "",
) -> dict[str, Any]:
    """Read what was said in a session, and which notes came of it."""
    asked = {"session_id": session_id, "offset": offset, "limit": limit}
    return await asking.remember("read_session", asked | given(project=project))


async def memory_undo(
    asking: Asking,
    *,
    undone: Annotated[str, Meta(description="An operation's number; the latest by default.")] = "",
) -> dict[str, Any]:
    """Take back what was last written, or one operation by its number."""
    return await asking.remember("undo", given(undone=undone), writes=True)


async def memory_rate(
    asking: Asking,
    *,
    node_id: Id,
    value: Annotated[int, Meta(description="1: useful, -1: of no use, 0: neither.")] = 1,
) -> dict[str, Any]:
    """Say what a note is worth; by default that it is useful."""
    return await asking.remember("rate", {"node_id": node_id, "value": value}, writes=True)


async def memory_link(
    asking: Asking,
    *,
    other: Annotated[
        str, Meta(description="The other project: its folder, or its name as it is listed without this.")
    ] = "",
    remove: Annotated[bool, Meta(description="From now on this project keeps notes of its own.")] = False,
) -> dict[str, Any]:
    """Say that this folder is a clone of another project: their notes are one from now on. Without
    the other: list the projects that have notes.
    """
    if other and remove:
        raise BadRequest("Pass the other project, or `remove`: not both.")
    asked = given(other=_named(other, asking.config.memory.remotes), remove=remove or None)
    return await asking.remember("link", asked, writes=True)


DryRun = Annotated[bool, Meta(description="Say what would be done, and do nothing.")]


async def memory_consolidate(
    asking: Asking,
    *,
    cycle: Annotated[
        Literal["all", "decay", "associations", "forgetting"],
        Meta(description="All of it, or what fades, what is related, what may be forgotten."),
    ] = "all",
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Look after memory: relate what changed, flag what contradicts, find what recurs, let what is
    not used fade. At most 500 notes at a time.
    """
    return await asking.remember("run_consolidation", {"cycle": cycle, "dry_run": dry_run}, writes=True)


async def memory_maintain(asking: Asking, *, dry_run: DryRun = False) -> dict[str, Any]:
    """Mark as deleted what is older than the settings allow, once that was shown, and keep the
    store quick.
    """
    return await asking.remember("trigger_maintenance", {"dry_run": dry_run}, writes=True)


async def memory_stats(asking: Asking) -> dict[str, Any]:
    """How much is remembered of this project, by kind and state."""
    return await asking.remember("stats")
