"""Markdown of other programs as records: the sections of an instruction file, and the observations,
relations and tags of basic-memory. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cortex.memory.files.foreign_formats import relation_of
from cortex.memory.note import FACT_CHARS_MAX, FACTS_MAX, TITLE_CHARS_MAX

#: names of instruction files, in lower case → kind of their sections
INSTRUCTIONS = {
    "claude.md": "preference",
    "claude.local.md": "preference",
    "agents.md": "preference",
    "gemini.md": "preference",
    "memory.md": "fact",
}
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_OBSERVATION = re.compile(
    r"^[ \t]*[-*][ \t]+\[(?![ xX-]?\])([^\]\n]{1,60})\][ \t]+(.+?)[ \t]*$", re.MULTILINE
)
_RELATION = re.compile(
    r"^[ \t]*[-*][ \t]+([\w .-]{0,60}?)[ \t]*\[\[([^\]\n|#]+)[^\]\n]*\]\].*$", re.MULTILINE
)
_TAG = re.compile(r"(?:(?<=\s)|^)#([\w/-]{1,64})")
_EMPTY_HEADING = re.compile(r"^#{1,6}[ \t]+(?:Observations|Relations)[ \t]*\n+(?=#|\Z)", re.MULTILINE)


def sections_of(text: str, name: str) -> Iterator[dict[str, Any]]:
    """The notes of a file: one for each heading with text; titles have the headings above."""
    kind, above, lines = INSTRUCTIONS[name.lower()], list[tuple[int, str]](), list[str]()
    in_fence = False
    for line in [*text.splitlines(), "# end"]:
        in_fence ^= bool(_FENCE.match(line))
        heading = None if in_fence else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        if body := "\n".join(lines).strip():
            title = ": ".join(part for _, part in above) or name
            yield {
                "title": title[:TITLE_CHARS_MAX],
                "body": body,
                "kind": kind,
                "labels": [name.lower().removesuffix(".md")],
                "metadata": {"imported_from": name},
            }
        depth, lines = len(heading[1]), []
        above = [(level, part) for level, part in above if level < depth] + [(depth, heading[2])]


@dataclass(frozen=True, slots=True)
class Structure:
    """The structure in a page of basic-memory. `relations`: (relation, title of the target)."""

    body: str
    facts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    relations: tuple[tuple[str, str], ...] = field(default=())


def structure_of(body: str) -> Structure:
    """Take the observations and relations out of a page; a page without any stays as it is."""
    facts, labels = list[str](), dict[str, None]()
    for category, content in _OBSERVATION.findall(body):
        labels |= dict.fromkeys(tag for tag in _TAG.findall(content))
        plain = " ".join(_TAG.sub("", content).split())
        facts.append(f"[{category}] {plain}"[:FACT_CHARS_MAX])
    relations = tuple((relation_of(relation), target.strip()) for relation, target in _RELATION.findall(body))
    if not facts and not relations:
        return Structure(body)
    left = (
        _RELATION.sub("", body) if len(facts) > FACTS_MAX else _OBSERVATION.sub("", _RELATION.sub("", body))
    )
    left = re.sub(r"\n{3,}", "\n\n", _EMPTY_HEADING.sub("", f"{left.rstrip()}\n"))
    return Structure(left.strip(), tuple(facts[:FACTS_MAX]), tuple(labels), relations)
