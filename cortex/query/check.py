"""The one check of a text that is asked, before anything is read in it, in fronts and workers
alike.
"""

from __future__ import annotations

from cortex.system.errors import BadQuery, BadRequest

#: bytes of a query; longer ones are pasted files, and every step after this one may cost as much as
#: it is long
QUERY_BYTES_MAX = 64 * 1024


def check_query(query: str) -> None:
    """Raises BadQuery for a query that nothing can be made of."""
    if fault := _fault(query, "query"):
        raise BadQuery(fault)


def check_text(text: str, argument: str) -> None:
    """As check_query for another argument. Raises BadRequest."""
    if fault := _fault(text, argument):
        raise BadRequest(fault)


def _fault(text: str, name: str) -> str:
    """What is wrong with `text`, in one sentence; "" for nothing."""
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
