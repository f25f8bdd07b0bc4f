"""Scripts and templates of components (Vue, Svelte, Astro, MDX) and of HTML pages, as texts for the
grammars of scripts. All other bytes are blank, so lines, columns and bytes are those of the file.
Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cortex.graph.languages.scripts.tags import (
    Expression,
    attribute_values,
    braces,
    mustaches,
    svelte_expressions,
)
from cortex.terms.code.components import PAGE_ENDINGS, pascal
from cortex.terms.languages import embedded_language

_SCRIPT_LANGUAGES = ("typescript", "tsx", "javascript")

_OPENING = re.compile(rb"<(script|style)(?=[\s>/])", re.IGNORECASE)
_CLOSING = {name: re.compile(rb"</" + name + rb"\s*>", re.IGNORECASE) for name in (b"script", b"style")}
#: attributes up to the end of a tag; `>` may be in a value
_ATTRIBUTES = re.compile(rb"(?:[^>\"']|\"[^\"]*\"|'[^']*')*+>")
#: bytes of the longest tag
_TAG_BYTES_MAX = 2_000
_SOURCE = re.compile(rb"\ssrc\s*=\s*(?:\"([^\"]+)\"|'([^']+)'|([^\s\"'>]+))", re.IGNORECASE)
_OUTSIDE = re.compile(r"(?:[a-z][a-z0-9+.-]*:|//|data:|[{$#])", re.IGNORECASE)
_VISIBLE = re.compile(rb"[^\n]")
_FRONT_MATTER = re.compile(rb"\A\s*---[ \t]*\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
#: the first line of an import or export in MDX, not of a sentence
_MODULE_LINE = re.compile(
    rb"(?:import\s*(?:[\"'{*]|[\w$]+\s*(?:,|\bfrom\b)|type\b)"
    rb"|export\s+(?:[{*]|default\b|const\b|let\b|var\b|async\b|function\b|class\b|type\b|interface\b))"
)
_FENCE = re.compile(rb"^[ \t]*(```+|~~~+)[^\n]*\n.*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(rb"(`+)[^`\n]+\1")
#: a component in a template: `<Card`, `<my-card`, `<ui.Card`
_TAG = re.compile(rb"<([A-Z][\w.]*|[a-z]\w*(?:-\w+)+|[a-z]\w*(?:\.\w+)+)(?=[\s/>])")
_CHAIN = re.compile(r"[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*")
#: Svelte's directives that name a function: `use:tooltip`, `in:fade`
_DIRECTIVE = re.compile(rb"\s(?:use|transition|in|out|animate):([\w.]+)")


class TemplateUse(NamedTuple):
    """A name in a template: a `call` of a component, or the `value` of an expression."""

    kind: str
    chain: str
    at: int


class ScriptSource(NamedTuple):
    """The module in `<script src="…">`, at a byte."""

    module: str
    at: int


class _Element(NamedTuple):
    """A script or style: its attributes, and the bytes of the whole and of its text."""

    is_script: bool
    tag: bytes
    begin: int
    start: int
    end: int
    until: int


@dataclass(slots=True)
class Component:
    """A component or page. `script` and `template` are as long as the file; b"" for none.
    `language` is that of the script; the template is TSX.
    """

    language: str
    script: bytes = b""
    template: bytes = b""
    uses: list[TemplateUse] = field(default_factory=list)
    sources: list[ScriptSource] = field(default_factory=list)


def read_component(path: str, raw: bytes) -> Component | None:
    """Return the scripts and template of a file; None for a page without a script."""
    ending = f".{path.rpartition('.')[2]}"
    if ending == ".mdx":
        return _read_mdx(raw)
    markup = _without_comments(raw)
    component = Component("javascript")
    script = _blank(raw)
    if ending == ".astro" and (match := _FRONT_MATTER.search(raw)) is not None:
        component.language = "typescript"
        _copy(raw, script, *match.span(1))
        _erase(markup, *match.span())
    for element in list(_elements(bytes(markup))):
        if element.is_script and (language := _script_language(element.tag, ending)):
            if language != "javascript":
                component.language = language
            component.sources += _source_of(element)
            _copy(raw, script, element.start, element.end)
        _erase(markup, element.begin, element.until)
    component.script = bytes(script) if script.strip() else b""
    if ending in PAGE_ENDINGS:
        return component if component.script or component.sources else None
    _read_template(component, bytes(markup), ending)
    return component


def _elements(markup: bytes) -> Iterator[_Element]:
    """Yield the scripts and styles in text order."""
    at = 0
    while (opening := _OPENING.search(markup, at)) is not None:
        at, name = opening.end(), opening[1].lower()
        tag = _ATTRIBUTES.match(markup[at : at + _TAG_BYTES_MAX])
        if tag is None:
            continue
        start = at + tag.end()
        if tag[0].endswith(b"/>"):
            yield _Element(name == b"script", tag[0], opening.start(), start, start, start)
        elif (closing := _CLOSING[name].search(markup, start)) is not None:
            yield _Element(name == b"script", tag[0], opening.start(), start, *closing.span())
            start = closing.end()
        else:
            return
        at = start


def _source_of(element: _Element) -> Iterator[ScriptSource]:
    """Yield the module that a script loads."""
    source = _SOURCE.search(element.tag)
    module = next(filter(None, source.groups())).decode("utf-8", "replace") if source is not None else ""
    module = module.partition("?")[0]
    if module and not _OUTSIDE.match(module):
        near = module if module.startswith((".", "/", "@", "~")) else f"./{module}"
        yield ScriptSource(near, element.begin)


def _script_language(tag: bytes, ending: str) -> str:
    """Return the language of `<script …>`; "" for data and for a language without a graph."""
    text = tag.rstrip(b"/>").decode("utf-8", "replace")
    if re.search(r"\btype\s*=\s*[\"']?(?:text|application)/typescript", text):
        return "typescript"
    language = embedded_language(f"<script {text}>")
    name = language.name if language is not None else ""
    if ending == ".astro" and name == "javascript":
        return "typescript"
    return name if name in _SCRIPT_LANGUAGES else ""


def _read_mdx(raw: bytes) -> Component:
    """Read imports and exports, which begin a line and end before an empty one, and the rest as a
    template.
    """
    component, script = Component("javascript"), _blank(raw)
    masked = _FENCE.sub(_blank_match, raw)
    if front := _FRONT_MATTER.search(masked):
        masked = _blank_match(front) + masked[front.end() :]
    markup = _without_comments(masked)
    masked = bytes(markup)
    for start, end in _module_blocks(masked):
        _copy(raw, script, start, end)
        _erase(markup, start, end)
    component.script = bytes(script) if script.strip() else b""
    _read_template(component, _CODE.sub(_blank_match, bytes(markup)), ".mdx")
    return component


def _module_blocks(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the bytes of each import or export in MDX."""
    begin, depth, at = -1, 0, 0
    for line in text.splitlines(keepends=True):
        if begin < 0 and _MODULE_LINE.match(line):
            begin, depth = at, 0
        if begin >= 0:
            if not line.strip() and depth <= 0:
                yield begin, at
                begin = -1
            depth += sum(line.count(mark) for mark in (b"{", b"(", b"["))
            depth -= sum(line.count(mark) for mark in (b"}", b")", b"]"))
        at += len(line)
    if begin >= 0:
        yield begin, len(text)


def _read_template(component: Component, markup: bytes, ending: str) -> None:
    template = _blank(markup)
    expressions: list[Expression]
    if ending == ".vue":
        expressions = [*mustaches(markup), *attribute_values(markup)]
    elif ending == ".svelte":
        expressions = list(svelte_expressions(markup))
        for match in _DIRECTIVE.finditer(markup):
            component.uses.append(TemplateUse("value", match[1].decode(), match.start(1)))
    else:
        expressions = list(braces(markup))
    for begin, end in expressions:
        text = markup[begin:end].decode("utf-8", "replace")
        if _CHAIN.fullmatch(text.strip()):
            at = begin + len(text) - len(text.lstrip())
            component.uses.append(TemplateUse("value", text.strip().replace("?.", "."), at))
        else:
            _copy(markup, template, begin, end)
    is_jsx = ending in (".astro", ".mdx")
    for match in _TAG.finditer(markup):
        if is_jsx and template[match.start() : match.end()].strip():
            continue  # a component inside an expression is read with it
        name = match[1].decode("utf-8", "replace")
        component.uses.append(TemplateUse("call", pascal(name) if "-" in name else name, match.start(1)))
    component.template = bytes(template) if template.strip() else b""


def _without_comments(raw: bytes) -> bytearray:
    """Return `raw` with blank HTML comments."""
    text, at = bytearray(raw), 0
    while (begin := raw.find(b"<!--", at)) >= 0 and (end := raw.find(b"-->", begin)) >= 0:
        at = end + len(b"-->")
        _erase(text, begin, at)
    return text


def _blank(raw: bytes | bytearray) -> bytearray:
    """Return spaces and the line feeds of `raw`."""
    return bytearray(_VISIBLE.sub(b" ", raw))


def _blank_match(match: re.Match[bytes]) -> bytes:
    return bytes(_blank(match[0]))


def _erase(text: bytearray, start: int, end: int) -> None:
    text[start:end] = _blank(text[start:end])


def _copy(raw: bytes, text: bytearray, start: int, end: int) -> None:
    """Copy a part of the file between two semicolons, which end a statement before and after it."""
    text[start:end] = raw[start:end]
    for at in (start - 1, end):
        if 0 <= at < len(text) and text[at : at + 1] == b" ":
            text[at : at + 1] = b";"
