"""A client that asks for progress gets it for the first index, while its call waits."""

from __future__ import annotations

import asyncio

import pytest

pytestmark = pytest.mark.e2e

#: enough files that indexing takes longer than the client's first call
FILES = 3000


def test_a_call_with_a_progress_token_gets_the_progress_of_indexing(project):
    folder = project.root / "many"
    folder.mkdir()
    for number in range(FILES):
        body = "".join(f"    total += compute_{number}({line})\n" for line in range(20))
        (folder / f"m{number}.py").write_text(f"def made_{number}(total):\n{body}    return total\n")
    #: of each call
    heard: list[list[tuple[float, float | None, str | None]]] = [[]]

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard[-1].append((progress, total, message))

    async def ask() -> None:
        async with project.front() as front, asyncio.timeout(60):
            while not any("Indexing is at" in str(message) for _, _, message in heard[-1]):
                heard.append([])
                await front.session.call_tool("cortex_exact", {"query": "made_1"}, progress_callback=hear)

    asyncio.run(ask())
    for call in heard:
        done = [progress for progress, _, _ in call]
        assert done == sorted(set(done))
    # Where no further file is done meanwhile the number only grows, and has no total.
    totals = {total for call in heard for _, total, _ in call} - {None}
    assert totals <= {float(n) for n in range(FILES, FILES + 100)}
