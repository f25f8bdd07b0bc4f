"""The view of the entry points: the routes of a project, and their handlers. All data come from
cortex_graph.
"""

from typing import Any

from cortex.front.http.page.frame import View, Visit, form_address

#: routes on the page
ROUTES_MAX = 500


async def show(visit: Visit) -> dict[str, Any]:
    part = visit.query.get("path", "").strip()
    arguments = {"operation": "routes", "target": part, "include_context": False, "detail": "full"}
    answer = await visit.call("cortex_graph", arguments | {"max_results": ROUTES_MAX})
    return {
        "part": part,
        "routes": [_row(result) for result in answer["results"]],
        "total": answer["total_found"],
        "said": answer["suggestion"],
    }


def _row(result: dict[str, Any]) -> dict[str, Any]:
    """Return a route with its place and its handlers; a handler without a name is the route."""
    node = result["node"]
    return {
        "method": result["method"],
        "path": result["path"],
        "of": node["route"],
        "file": node["file"],
        "line": node["start_line"],
        "handlers": [(name, name.rpartition(":")[2]) for name in result["handlers"]],
        "computed": result.get("computed", ""),
        "is_mounted": result.get("mounted", True),
    }


VIEW = View("entries", "Entry points", show, {"address": form_address("entries")})
