"""Checks of the places in notes: whether the files and symbols changed, moved or are gone."""

from collections.abc import Sequence
from typing import Any

from cortex.ask.query_context import QueryContext

#: keys of the rows in an answer about observations
_LISTS = ("results", "observations")


async def judge_rows(context: QueryContext, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of notes with the state of their places (`cortex.ask.code_notes.note_freshness`,
    imported only if a note has files).
    """
    if not any(row.get("files") for row in rows):
        return list(rows)
    from cortex.ask.code_notes.note_freshness import judge_note_rows

    return await judge_note_rows(context, rows)


async def check_observations(context: QueryContext, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of an observation tool with the state of the places of each observation.

    The answer is one observation or has rows of them. Rows have no files, so memory is asked for
    each row's places.
    """
    rows = [row for name in _LISTS for row in _rows(answer, name) if _is_observation(row)]
    rows += [answer] if _is_observation(answer) else []
    if not rows:
        return answer
    from cortex.ask.code_notes.note_freshness import Judgement, judge_notes

    judgements = await judge_notes(context, [row["id"] for row in rows])
    nothing = Judgement()

    def with_judgement(row: Any) -> Any:
        return judgements.get(row["id"], nothing).annotate(row) if _is_observation(row) else row

    return {
        name: [with_judgement(row) for row in value]
        if name in _LISTS and isinstance(value, list | tuple)
        else value
        for name, value in with_judgement(answer).items()
    }


def _rows(answer: dict[str, Any], name: str) -> Sequence[Any]:
    rows = answer.get(name)
    return rows if isinstance(rows, list | tuple) else ()


def _is_observation(row: Any) -> bool:
    """Whether `row` is an observation: its "id" is the number of a note."""
    return isinstance(row, dict) and "uuid" in row and isinstance(row.get("id"), int)
