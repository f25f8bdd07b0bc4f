"""The table of the page's views, in the order of its navigation."""

from cortex.front.http.page import entries, file_view, graph, memory, project, search, state
from cortex.front.http.page.frame import View

VIEWS: tuple[View, ...] = (
    search.VIEW,
    file_view.VIEW,
    graph.VIEW,
    entries.VIEW,
    project.VIEW,
    memory.VIEW,
    state.VIEW,
)
