"""The tool cortex_store: stores a note, or edits one."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.front.form import Form, Offer, Word
from cortex.front.text.memory import WRITTEN
from cortex.front.tools.memory.arguments import OperationId, drop_empty
from cortex.front.tools.memory.fence import unfenced

#: defaults of a new note for the schema: the function's are empty, for an edit changes only the
#: fields that are passed
ALSO = {"stated_defaults": {"kind": "fact", "importance": 0.5}}

FORMS = {
    "cortex_store": Form(
        text=WRITTEN,
        words=(Word("title", "title", optional=True),),
        from_stdin="body",
        offer=Offer(
            "Note a decision, lesson or preference for later sessions; with `id`, edit one. A `topic`'s new "
            "note replaces the old.",
            {
                "title": "The lesson, in one sentence.",
                "body": "Why, and where it applies.",
                **dict.fromkeys(("kind", "files", "topic", "supersedes"), ""),
                "id": "Note to edit.",
            },
        ),
    )
}


async def cortex_store(
    context: QueryContext,
    *,
    title: Annotated[str, Meta(description="The lesson, in one sentence.")] = "",
    body: Annotated[str | None, Meta(description="Why, and where it applies.")] = None,
    kind: Annotated[
        str, Meta(description="fact, decision, goal, event, pattern, observation, preference.")
    ] = "",
    tags: Annotated[tuple[str, ...] | None, Meta(description="Tags for filters.")] = None,
    importance: Annotated[float | None, Meta(description="0 to 1.")] = None,
    facts: Annotated[tuple[str, ...] | None, Meta(description="One sentence each.")] = None,
    files: Annotated[tuple[str, ...] | None, Meta(description="Paths.")] = None,
    anchors: Annotated[
        tuple[str, ...] | None, Meta(description='Symbols: "src/auth:Session.refresh".')
    ] = None,
    obs_type: Annotated[str, Meta(description="bugfix, feature, refactor, discovery …")] = "",
    scope: Annotated[Literal["project", "global"] | None, Meta(description="Visibility.")] = None,
    project: Annotated[str, Meta(description="Another project.")] = "",
    occurred_at: Annotated[str, Meta(description="A date, if not now.")] = "",
    supersedes: Annotated[tuple[str, ...] | None, Meta(description="Ids of replaced notes.")] = None,
    topic: Annotated[str, Meta(description="Subject.")] = "",
    id: Annotated[str, Meta(description="Note to edit.")] = "",  # noqa: A002 - its name on the wire
    state: Annotated[
        Literal["active", "superseded", "archived", "deleted"] | None, Meta(description="New state.")
    ] = None,
    operation_id: OperationId = "",
) -> dict[str, Any]:
    """Remember a fact, decision, goal, event, pattern, observation or preference for later
    sessions; with `id`, edit a note. Storing a title again adds to the existing note; a new
    note of a topic replaces the older.

    Example: {"title": "Retries use back-off with jitter", "kind": "decision", "tags": ["net"]}
    """
    places: dict[str, Any] = {"files": files, "anchors": anchors}
    warnings: list[str] = []
    if (files or anchors) and not project:  # only this project's places can be looked up
        from cortex.ask.code_notes.places import find_places

        lookup = await find_places(context, files or (), anchors or ())
        places, warnings = lookup.store_arguments(files, anchors), lookup.warnings
    answer = await context.remember(
        "store",
        drop_empty(
            title=title,
            body=body if body is None else unfenced(body),
            kind=kind,
            tags=tags,
            importance=importance,
            facts=facts,
            obs_type=obs_type,
            scope=scope,
            project=project,
            occurred_at=occurred_at,
            supersedes=supersedes,
            topic=topic,
            id=id,
            state=state,
            **places,
        ),
        operation_id=operation_id,
    )
    return answer | ({"warnings": [*answer.get("warnings", ()), *warnings]} if warnings else {})
