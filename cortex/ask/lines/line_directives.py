"""Uses in code that another program has written, at the lines of its source."""

import re
from collections.abc import Mapping
from dataclasses import replace

from cortex.ask.lines.current_lines import CurrentSpan, Span, read_spans
from cortex.ask.query_context import Turn
from cortex.ask.references.use_sites import Site, cut
from cortex.terms.languages import language_of

#: lines above a use in which its generator names the source (`#line 661 "parser.y"`), and the
#: languages with such lines
ABOVE_LINES, DIRECTIVES = 12, frozenset({"c", "cpp", "go"})
_LINE_DIRECTIVE = re.compile(
    r'\s*#\s*(?:line\s+)?(\d{1,9})\s+"([^"\n]+)"|\s*//line\s+([^\n:]+):(\d{1,9})(?!\d)'
)


def span_above(site: Site) -> Span | None:
    """Return the lines up to a use in which a directive may be; None in other languages."""
    if language_of(site.file).name not in DIRECTIVES:
        return None
    return Span(site.file, max(1, site.line - ABOVE_LINES), site.line)


def find_source(above: CurrentSpan) -> Span | None:
    """Return the line that the last of these lines was generated from; None without a directive."""
    numbered = list(enumerate(above.lines, above.start))
    for number, text in reversed(numbered[:-1]):
        if match := _LINE_DIRECTIVE.match(text):
            line, file = (match[1], match[2]) if match[1] else (match[4], match[3])
            start, folder = int(line) + above.end - number - 1, above.file.rpartition("/")[0]
            return Span(file if "/" in file else f"{folder}/{file}".lstrip("/"), start, start)
    return None


async def point_at_sources(turn: Turn, sites: list[Site], sources: Mapping[int, Span], name: str) -> None:
    """Put the `sites` whose number has a source to that place, if the index holds the line and it
    names the definition. Raises as `read_spans`.
    """
    word = name.rpartition(".")[2]
    read = await read_spans(turn, list(sources.values()))
    for at, span in zip(sources, read, strict=True):
        if span.file != sites[at].file and any(word in text for text in span.lines):
            sites[at] = replace(sites[at], file=span.file, line=span.start, text=cut(span.lines[0]))
