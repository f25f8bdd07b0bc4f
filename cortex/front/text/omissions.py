"""Keys of answers that have no line in the text, each with the reason."""

from __future__ import annotations

#: key of an answer → reason, for every tool
EVERYWHERE = {
    "metadata": "time and source of the answer: for measurements",
    "truncated": "a sentence or the totals say it",
    "query": "the reader's own argument",
}
#: key at any depth of an answer without a form of its own → reason
FIELDS = {
    "uuid": "the number is an id too",
    "created_at_epoch": "the same as created_at",
    "last_retrieved_at_epoch": "of use to programs",
    "sdk_session_id": "of use to programs",
    "is_superseded": "state says it",
    "is_archived": "state says it",
}
#: key inside an answer, or `tool:key`, → reason; `*` stands for any part of a path of keys
INSIDE = {
    "index.generation": "of use to programs; gaps of the index are sentences",
    "index.publishing": "index.message says it",
    "index.indexing.*": "index.message says it",
    "index.searchable.*": "index.message says it",
    "total": "the number of results",
    "omitted.weak": "weak hits are no answer",
    "match_type": "the reader's own argument, or the default",
    "*.chunk.id": "the place is the id",
    "*.chunk.chunk_type": "the path shows the kind of text",
    "*.chunk.tags": "for filters",
    "*.chunk.created_at": "time of indexing",
    "*.chunk.updated_at": "time of indexing",
    "*.chunk.metadata.*": "for filters; place, symbol and lines are in the text",
    "*.combined_score": "the order is that of the scores",
    "*.score": "the order is that of the scores",
    "*.similarity": "the order is that of the scores",
    "results.explain.*": "the products and their sum explain the order",
    "hits.source": "of use to programs",
    # cortex_graph
    "results.node.*": "place and name are in the text",
    "results.location.column": "the line is enough",
    "results.sites.column": "the line is enough",
    "results.sites.unsure": "the first place of a caller has the remark",
    "*.confidence": "only a doubtful reference has a remark",
    "results.kind": "the line of code shows it",
    "results.impact_type": "the summary counts them; an override has a remark",
    "results.severity": "the summary counts them; it follows from the steps",
    "summary.max_depth": "each level has a heading",
    "summary.by_level.*": "only several levels have a line",
    "summary.by_folder.*": "only several folders have a line",
    "summary.folders": "only what is left out has a number",
    "total_returned": "only a cut answer has its numbers",
    # cortex_outline
    "cortex_outline:path": "the reader's own argument",
    "cortex_outline:total_found": "a sentence counts the symbols that are left out",
    "symbols_shown": "a sentence counts the others",
    # cortex_pattern
    "files_searched": "a sentence, if files are left out",
    "language": "the reader's own argument",
    "pattern": "the reader's own argument",
    "results.column": "the line is enough",
    "results.variables.*": "the text holds them",
    # find_related
    "callers.calls": "the line of code shows it",
    "callers.id": "name and place are in the text",
    "documents.chunk.text": "the names that it mentions are in the text",
    "target.chunk_id": "the place is the id",
    # memory
    "id": "of a note: its number is an id too; of an edge: nothing takes it",
    "results.id": "the number is an id too",
    "edges.id": "nothing takes it",
    "edges.weight": "of use to programs",
    "nodes.importance": "of use to programs",
    "node_count": "the number of rows",
    "edge_count": "the number of rows",
    "total_count": "a cut list has its total",
    "count": "the number of rows",
    "*.metadata.scope": "scope says it, where it is not the project",
    "*.scope": "only a note of all projects has a remark",
    "*.project": "the project asked for",
    "*.type": "obs_type is more exact",
}
