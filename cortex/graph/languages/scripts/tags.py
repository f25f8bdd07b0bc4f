"""Places of the expressions in templates: `{{ name }}` and `:title="name"` of Vue, `{name}` and
`{#if name}` of Svelte, `{name}` of Astro and MDX. Pure.
"""

import re
from collections.abc import Iterator

#: bytes of an expression in a template
Expression = tuple[int, int]

_OPENING = re.compile(rb"\{")
_INSIDE = re.compile(rb"[{}]|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
#: Vue's attributes that hold an expression, `v-slot` apart
_ATTRIBUTE = re.compile(
    rb"\s(?P<name>v-(?!slot\b)[\w-]+(?::[\w.\[\]-]+)?|[:@][\w.:\[\]-]+)\s*=\s*(?:\"(?P<two>[^\"]*)\"|'(?P<one>[^']*)')"
)
#: Vue's `(item, index) in items`
_LOOP = re.compile(rb"\s*(?:\([^()]*\)|[\w$]+|\{[^{}]*\})\s+(?:in|of)\s+")
#: the word that begins a block or a tag of Svelte: `{#if`, `{:else if`, `{@html`
_WORD = re.compile(rb"(?:#(?:if|each|await|key|snippet)|:else\s+if|:else|:then|:catch|@\w+|/\w+)\b")


def braces(markup: bytes) -> Iterator[Expression]:
    """Yield the bytes inside each outermost pair of braces."""
    pairs: list[tuple[int, int]] = []
    opened: list[int] = []
    at = 0
    while (match := (_INSIDE if opened else _OPENING).search(markup, at)) is not None:
        at = match.end()
        if match[0] == b"{":
            opened.append(at)
        elif match[0] == b"}":
            pairs.append((opened.pop(), match.start()))
    last = -1
    for begin, end in sorted(pairs):
        if begin > last:
            last = end
            yield begin, end


def mustaches(markup: bytes) -> Iterator[Expression]:
    """Yield the bytes inside each `{{ … }}`."""
    for begin, end in braces(markup):
        if markup[begin : begin + 1] == b"{" and markup[end - 1 : end] == b"}" and end - begin > 1:
            yield begin + 1, end - 1


def attribute_values(markup: bytes) -> Iterator[Expression]:
    """Yield the bytes of each expression in Vue's attributes."""
    for match in _ATTRIBUTE.finditer(markup):
        group = "two" if match["two"] is not None else "one"
        begin, end = match.span(group)
        if match["name"] == b"v-for" and (loop := _LOOP.match(match[group])) is not None:
            begin += loop.end()
        yield begin, end


def svelte_expressions(markup: bytes) -> Iterator[Expression]:
    """Yield the bytes of each expression in Svelte's braces, without the words of its blocks."""
    for begin, end in braces(markup):
        text = markup[begin:end]
        word = _WORD.match(text)
        if word is None:
            spread = text.lstrip()[:3] == b"..."
            yield (begin + text.index(b"...") + 3 if spread else begin), end
            continue
        rest = text[word.end() :]
        if word[0] in (b"#if", b"#key", b"@html", b"@render") or b"if" in word[0]:
            yield begin + word.end(), end
        elif word[0] == b"#each":  # `{#each items as item}`
            size = rest.rfind(b" as ")
            yield begin + word.end(), begin + word.end() + size if size >= 0 else end
        elif word[0] == b"#await":  # `{#await load() then value}`
            size = rest.find(b" then ")
            yield begin + word.end(), begin + word.end() + size if size >= 0 else end
        elif word[0] == b"@const" and (equals := rest.find(b"=")) >= 0:
            yield begin + word.end() + equals + 1, end
