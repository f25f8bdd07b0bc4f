"""Small projects to search, and the answers of `cortex_search` as an agent's client gets them."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from cortex.ask.exploring.unit_answer import answer_with_code
from cortex.ask.questions import Search


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def ask(served: Any, query: str, **more: Any) -> dict[str, Any]:
    """Return the answer; `more` as for Search."""
    answer = asyncio.run(answer_with_code(served.context(), Search(query, **more)))
    assert answer is not None
    return orjson.loads(orjson.dumps(answer))
