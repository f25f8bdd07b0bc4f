"""JSON schemas of answers, for /openapi.json. A schema names the fields of every answer of its
kind; an answer may have further ones.
"""

from typing import Any

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_INTEGER: Schema = {"type": "integer"}
_NUMBER: Schema = {"type": "number"}
_YES: Schema = {"type": "boolean"}


def _list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(*optional: str, **fields: Schema) -> Schema:
    """Return the schema of an object with these fields, all but the `optional` ones required."""
    return {
        "type": "object",
        "required": [name for name in fields if name not in optional],
        "properties": fields,
    }


INDEX = _object(
    "message",
    generation=_INTEGER,
    pending=_list_of(_TEXT),
    pending_count=_INTEGER,
    degraded=_list_of(_TEXT),
    message=_TEXT,
)
#: schemas that others name
SHARED: dict[str, Schema] = {
    "Index": INDEX | {"description": "The state of the index that answered."},
    "Chunk": _object("title", "chunk_type", "tags", id=_TEXT, title=_TEXT, text=_TEXT, chunk_type=_TEXT,
                     tags=_list_of(_TEXT), metadata=_object(file_path=_TEXT) | {"required": []}),
}  # fmt: skip
_INDEX, _CHUNK = ({"$ref": f"#/components/schemas/{name}"} for name in SHARED)
_HIT = _object("project", file=_TEXT, lno=_INTEGER, text=_TEXT, score=_NUMBER, project=_TEXT,
               source={"type": "string", "enum": ["lex", "vec", "both"]})  # fmt: skip
_HITS = _object(
    "truncated", "suggestion", hits=_list_of(_HIT), index=_INDEX, truncated=_YES, suggestion=_TEXT
)
_COUNTED = {
    "results": _list_of({"type": "object"}),
    "total_found": _INTEGER,
    "total_returned": _INTEGER,
    "truncated": _YES,
    "suggestion": _TEXT,
    "metadata": _object(took_ms=_INTEGER, source=_TEXT),
    "index": _INDEX,
}
#: tool → the schema of its answer; those of other tools are objects
TOOLS: dict[str, Schema] = {
    "cortex_search": _object(
        results=_list_of(_object(chunk=_CHUNK, combined_score=_NUMBER)), total=_INTEGER, index=_INDEX
    ),
    "code_context": _HITS,
    "cortex_exact": _object(
        query=_TEXT,
        match_type=_TEXT,
        **_COUNTED | {"results": _list_of(_object(chunk=_CHUNK, score=_NUMBER))},
    ),
    "cortex_graph": _object(operation=_TEXT, target=_TEXT, **_COUNTED),
    "cortex_outline": _object(path=_TEXT, **_COUNTED),
}
HEALTH = _object(alive=_YES, ready=_YES, version=_TEXT)
SEARCH = _HITS
STATUS = _object(
    repo=_TEXT, project=_TEXT, zoekt_pct=_INTEGER, faiss_pct=_INTEGER, text_pct=_INTEGER, vector_pct=_INTEGER,
    graph_pct=_INTEGER, files=_INTEGER, chunks=_INTEGER, generation=_INTEGER, pending=_INTEGER,
)  # fmt: skip
LISTED = _object(
    project=_TEXT,
    tools=_list_of(_object(name=_TEXT, title=_TEXT, description=_TEXT, inputSchema={"type": "object"})),
)
EVENTS = {
    "type": "string",
    "description": (
        "Server-sent events `generation`, `progress`, `workers` and `memory`, each with JSON as its data: "
        "first the present state, then the changes."
    ),
}
METRICS = {"type": "string", "description": "Prometheus' text format."}


def schema_of(tool: str) -> Schema:
    return TOOLS.get(tool, {"type": "object"})
