"""Validation of a query's text before it is parsed, for fronts and workers alike."""

from cortex.system.errors import BadQuery, BadRequest

#: bytes of a query; longer ones are pasted files, and the cost of each later step may grow with it
QUERY_BYTES_MAX = 64 * 1024


def check_query(query: str) -> None:
    """Raise BadQuery for a query that cannot be searched."""
    if fault := _fault(query, "query"):
        raise BadQuery(fault)


def check_text(text: str, argument: str) -> None:
    """As `check_query`, for another argument. Raises BadRequest."""
    if fault := _fault(text, argument):
        raise BadRequest(fault)


def _fault(text: str, name: str) -> str:
    """Return the fault of `text` in one sentence; "" for none."""
    if not text.strip():
        return f"The {name} is empty; pass words to look for."
    if "\0" in text:
        return f"The {name} holds a NUL character at position {text.index(chr(0)) + 1}; leave it out."
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        return f"The {name} is not valid Unicode: it holds a lone surrogate at position {error.start + 1}."
    if size > QUERY_BYTES_MAX:
        return f"The {name} is {size} bytes long; at most {QUERY_BYTES_MAX} are allowed."
    return ""
