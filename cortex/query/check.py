"""The one check of a query's text, before anything is read in it, in fronts and workers alike."""

from __future__ import annotations

from ipc.errors import BadRequest

#: bytes of a query; longer ones are pasted files, and every step after this one may cost as much as
#: it is long
QUERY_BYTES_MAX = 64 * 1024


def check_query(query: str) -> None:
    """Raises BadRequest for a query that nothing can be made of."""
    if not query.strip():
        raise BadRequest("The query is empty; pass words to look for.")
    if "\0" in query:
        raise BadRequest(
            f"The query holds a NUL character at position {query.index(chr(0)) + 1}; leave it out."
        )
    try:
        size = len(query.encode())
    except UnicodeEncodeError as error:
        raise BadRequest(
            f"The query is not valid Unicode: it holds a lone surrogate at position {error.start + 1}."
        ) from error
    if size > QUERY_BYTES_MAX:
        raise BadRequest(f"The query is {size} bytes long; at most {QUERY_BYTES_MAX} are allowed.")
