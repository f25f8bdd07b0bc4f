"""The tool find_related: what belongs to a piece of code that is at hand."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.asking import Asking
from cortex.ask.questions import Related
from cortex.ask.related import find_related as find
from cortex.front.tools.arguments import DetailLevel, MaxTokens


async def find_related(
    asking: Asking,
    *,
    file: Annotated[
        str,
        Meta(description='The file\'s path, as results give it: "src/auth/session.py". Not with chunk_id.'),
    ] = "",
    line: Annotated[
        int, Meta(description="A line of the file: what is around it counts. Leave out for the whole file.")
    ] = 0,
    chunk_id: Annotated[
        str, Meta(description="The chunk.id of a search result, in place of file and line.")
    ] = "",
    limit: Annotated[int, Meta(description="How many of each kind, 1 to 100.")] = 10,
    detail: DetailLevel = "snippet",
    max_tokens: MaxTokens = 20_000,
) -> dict[str, Any]:
    """Find what belongs to a piece of code you have at hand: similar code elsewhere, its callers,
    tests and documents.

    Use it before you change something: it shows the other places that do the same, who depends on
    it, which tests to run and which documents to keep true. Pass a file and line, or the chunk.id
    of a search result. Use cortex_search to find that piece of code in the first place,
    cortex_graph for more than direct callers.

    - similar: chunks of other files, nearest in meaning first; "score" is the cosine
    - callers: what calls the definitions there, with the place of the call
    - tests: test files that call it, are named like it, import it or mention it ("why"), the surest
      first
    - documents: documentation that mentions its names or its file

    Examples:
    - {"file": "src/auth/session.py", "line": 42} - around one line
    - {"chunk_id": "code-src/auth/session.py#Session.refresh~1"} - a search result
    - {"file": "src/auth/session.py"} - the whole file

    """
    question = Related(file, line, chunk_id, limit, detail, max_tokens)
    return await find(asking, question)
