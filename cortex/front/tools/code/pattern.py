"""The tool cortex_pattern: finds code by its shape."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.asking import Asking
from cortex.ask.questions import Pattern
from cortex.ask.structure import pattern as find
from cortex.front.tools.arguments import ExcludePaths, Paths


async def cortex_pattern(
    asking: Asking,
    *,
    pattern: Annotated[
        str,
        Meta(
            description="Code with $NAME for one node and $$$NAME for any number: logger.error($MSG, $$$REST)."
        ),
    ],
    language: Annotated[
        str,
        Meta(
            description="python, go, typescript, tsx, javascript, rust, java, c, cpp, csharp, ruby, php, kotlin, swift "
            "or scala."
        ),
    ],
    paths: Paths = (),
    exclude_paths: ExcludePaths = (),
    limit: Annotated[int, Meta(description="How many matches, 1 to 200.")] = 50,
) -> dict[str, Any]:
    """Find code by its shape: a pattern of code with metavariables, matched on syntax trees,
    whatever the layout.

    Use it where words are not enough: calls with certain arguments, handlers without a body,
    statements to be changed everywhere. Each match has its place, text and the captured variables.
    Files are read as they are now.

    Examples:
    - {"pattern": "requests.get($URL, $$$REST)", "language": "python"}
    - {"pattern": "if err != nil { return $$$R }", "language": "go", "paths": ["internal/**"]}
    - {"pattern": "useEffect($F, [])", "language": "tsx"}

    """
    return await find(asking, Pattern(pattern, language, paths, exclude_paths, limit))
