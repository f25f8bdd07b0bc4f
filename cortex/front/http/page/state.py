"""The view of the machinery: who runs, what is wrong and what to do."""

from __future__ import annotations

import asyncio
from typing import Any

from cortex.front.http.page.frame import Part, View, Visit


async def show(visit: Visit) -> dict[str, Any]:
    return await now(visit, {})


async def now(visit: Visit, _body: dict[str, Any]) -> dict[str, Any]:
    """Everything as it is at the moment: as `cortex doctor` and `cortex status` say it."""
    from cortex.front.cli.doctor import examine
    from cortex.front.cli.status import collect

    config = visit.hosted.config
    checks = await asyncio.to_thread(examine, str(config.root))
    return {"checks": checks, "status": await collect(config)}


VIEW = View("state", "Health", show, {"now": Part(now, "state_now.html")})
