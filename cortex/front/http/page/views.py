"""The views of the page, in the order in which they are offered. The only list of them."""

from __future__ import annotations

from cortex.front.http.page import graph, memory, project, search, state
from cortex.front.http.page.frame import View

VIEWS: tuple[View, ...] = (search.VIEW, graph.VIEW, project.VIEW, memory.VIEW, state.VIEW)
