"""Uses in code that another program has written, at the lines of its source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from cortex.ask.current_lines import Span, read_spans
from cortex.ask.query_context import Turn
from cortex.ask.use_sites import Site, cut
from cortex.terms.languages import language_of

#: lines above a use in which its generator names the source (`#line 661 "parser.y"`), and the
#: languages with such lines
ABOVE_LINES, DIRECTIVES = 12, frozenset({"c", "cpp", "go"})
_LINE_DIRECTIVE = re.compile(
    r'\s*#\s*(?:line\s+)?(\d{1,9})\s+"([^"\n]+)"|\s*//line\s+([^\n:]+):(\d{1,9})(?!\d)'
)


async def point_at_sources(turn: Turn, sites: Sequence[Site], name: str) -> list[Site]:
    """Return the sites, of generated code those of the indexed file that it was generated from,
    where a line directive names that file and its line names the definition.
    """
    directives = [site for site in sites if site.text and language_of(site.file).name in DIRECTIVES]
    above = [Span(site.file, max(1, site.line - ABOVE_LINES), site.line) for site in directives]
    sources: dict[Site, Span] = {}
    for site, span in zip(directives, await read_spans(turn, above), strict=True):
        numbered = list(enumerate(span.lines, span.start))
        for number, text in reversed(numbered[:-1]):
            if match := _LINE_DIRECTIVE.match(text):
                line, file = (match[1], match[2]) if match[1] else (match[4], match[3])
                start = int(line) + span.end - number - 1
                folder = site.file.rpartition("/")[0]
                sources[site] = Span(file if "/" in file else f"{folder}/{file}".lstrip("/"), start, start)
                break
    word = name.rpartition(".")[2]
    places = dict.fromkeys(sites)
    for site, span in zip(sources, await read_spans(turn, list(sources.values())), strict=True):
        if span.file != site.file and any(word in text for text in span.lines):
            places[site] = replace(site, file=span.file, line=span.start, text=cut(span.lines[0]))
    return [places[site] or site for site in sites]
