"""Every tool, called once through a front, for tests of the place where workers run."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import orjson
from mcp.shared.exceptions import MCPError

from cortex.front.tools import TOOLSETS, choose
from tests.e2e.conftest import Front
from tests.wait_until import BOUND_S

#: all toolsets, as the option of `cortex mcp`
ALL = ("--toolsets", ",".join(TOOLSETS))
#: arguments of a tool besides the required ones
MORE = {
    "cortex_explore": {"query": "check_password"},
    "cortex_graph": {"target": "check_password"},
    "cortex_recall": {"query": "how long are sessions kept?"},
    "cortex_search": {"detail": "auto"},
    "find_related": {"file": "auth/login.py"},
    "search": {"query": "sessions"},
    "cortex_store": {"title": "Retries are repeated with jitter"},
    "edit_observation": {"title": "Sessions are kept for two hours"},
}


def arguments_of(tool: str, required: list[str], notes: list[str]) -> dict[str, Any]:
    """Return arguments for `tool`; `notes`: the ids of four notes, the last two may be deleted."""
    values = {
        "query": "check_password",
        "operation": "callers",
        "target": "check_password",
        "symbol": "check_password",
        "places": ["check_password"],
        "pattern": "len($A)" if tool == "cortex_pattern" else "note",
        "language": "python",
        "title": "Retries are repeated with jitter",
        "concepts": ["testing"],
        "files": ["auth/login.py"],
        "type": "decision",
        "tag": "new",
        "tags": ["new"],
        "ids": notes[3:],
        "boost": 0.1,
        "source_id": notes[2],
    }
    values |= dict.fromkeys(("id", "node_id", "anchor_id", "from_id"), notes[0])
    values |= dict.fromkeys(("to_id", "target_id"), notes[1])
    return {name: values[name] for name in required} | MORE.get(tool, {})


async def call_every_tool(front: Front) -> tuple[dict[str, Any], dict[str, str]]:
    """Return (each tool's answer, each failure) by the tool's name."""
    titles = ("Sessions are kept for an hour", "Invoices are rounded on each line")
    notes = [await _store(front, title) for title in (*titles, "A note to be merged", "A note to be deleted")]
    answers: dict[str, Any] = {}
    refused: dict[str, str] = {}
    for name, tool in choose(tuple(TOOLSETS)).items():
        required = tool.schema.get("required", [])
        try:
            result = await front.session.call_tool(name, arguments_of(name, required, notes))
        except MCPError as error:
            refused[name] = str(error)
            continue
        text = result.content[0].text
        if result.is_error:
            refused[name] = text
        else:
            answers[name] = orjson.loads(text)
    return answers, refused


async def _store(front: Front, title: str) -> str:
    """Return the id of a new note; the first note of all waits until the store is made."""
    async with asyncio.timeout(BOUND_S):
        while True:
            with contextlib.suppress(MCPError):
                return str((await front.call("cortex_store", title=title, kind="decision"))["id"])
            await asyncio.sleep(0.1)
