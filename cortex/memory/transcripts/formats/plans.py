"""The plan that an agent keeps with its tools, as a list of changes in order: "=" empties the plan,
"- text" adds an item, "> text" one in progress, "x text" a finished one; "~ 2 x" gives the second
item another state, "~ 2 !" removes it. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: the tool of Codex that sets a plan
PLAN_TOOL = "update_plan"
#: changes of one exchange, and characters of an item
CHANGES_MAX, ITEM_CHARS_MAX = 200, 200
#: state of an item in a tool's words → ours
_STATES = {"pending": "-", "in_progress": ">", "completed": "x", "deleted": "!"}


@dataclass(frozen=True, slots=True)
class Plan:
    """The items by state."""

    done: list[str]
    under_way: list[str]
    waiting: list[str]


def plan_changes(tool: str, parameters: Mapping[str, Any]) -> list[str]:
    """The changes of a call; [] for other tools, and for a call of an unknown shape."""
    try:
        return _changes(tool, parameters)
    except (AttributeError, KeyError, TypeError, ValueError):
        return []


def _changes(tool: str, parameters: Mapping[str, Any]) -> list[str]:
    if tool in ("TodoWrite", PLAN_TOOL):
        items = parameters["todos" if tool == "TodoWrite" else "plan"]
        texts = [(item["status"], item.get("content") or item.get("step")) for item in items]
        return ["=", *(f"{_STATES[status]} {_item(text)}" for status, text in texts)]
    if tool == "TaskCreate":
        return [f"- {_item(parameters['subject'])}"]
    if tool == "TaskUpdate" and parameters.get("status") in _STATES:
        return [f"~ {int(parameters['taskId'])} {_STATES[parameters['status']]}"]
    return []


def joined(earlier: Sequence[str], later: Sequence[str]) -> list[str]:
    """The changes of both, without those that "=" makes void."""
    changes = [*earlier, *later]
    begin = max((at for at, change in enumerate(changes) if change == "="), default=0)
    return changes[begin:][-CHANGES_MAX:]


def read_plan(changes: Sequence[str]) -> Plan:
    items: list[list[str]] = []
    for change in changes:
        mark, _, text = change.partition(" ")
        if mark == "=":
            items = []
        elif mark == "~":
            which, _, state = text.partition(" ")
            if which.isdecimal() and 0 < int(which) <= len(items):
                items[int(which) - 1][0] = state
        else:
            items.append([mark, text])
    by_state = {state: [text for mark, text in items if mark == state] for state in "x>-"}
    return Plan(by_state["x"], by_state[">"], by_state["-"])


def _item(text: str) -> str:
    return " ".join(text.split())[:ITEM_CHARS_MAX]
