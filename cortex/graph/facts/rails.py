"""Rails: what a macro in the body of a class defines, `has_many :votes`, and its value."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of

#: begins the flag of a method that a macro defines; the macro's name follows
MACRO = "macro "
#: links from a class to a query for its instances, and to one of these
QUERY = "(^q)"
FIRST_OF_QUERY = f"{QUERY}[]"
#: the value of a scope: a query of the class or query that it is called on
SCOPED = f"self{QUERY}"
_SCOPE = "scope"
_MANY = frozenset({"has_many", "has_and_belongs_to_many"})
_SINGLE = frozenset({"has_one", "belongs_to"})
#: endings of plurals, and those of their singulars
_SINGULARS = (
    (re.compile(r"people$"), "person"),
    (re.compile(r"(child)ren$"), r"\1"),
    (re.compile(r"(^|_)(m|wom)en$"), r"\1\2an"),
    (re.compile(r"(series|species|news|ss)$"), r"\1"),
    (re.compile(r"(m)ovies$"), r"\1ovie"),
    (re.compile(r"([^aeiou_])ies$"), r"\1y"),
    (re.compile(r"(analys|ax|cris|hypothes|parenthes|diagnos|bas)es$"), r"\1is"),
    (re.compile(r"(ss|sh|ch|x|alias|status|virus|bus)es$"), r"\1"),
    (re.compile(r"(indi|verti|matri)ces$"), r"\1x"),
    (re.compile(r"(status|alias|virus|bus)$"), r"\1"),
    (re.compile(r"s$"), ""),
)
_CLASS_NAME = re.compile(r"(?:::)?[A-Z]\w*(?:::[A-Z]\w*)*")


def body_methods(body: Node) -> Iterator[tuple[str, bool]]:
    """Yield (name, whether of the class itself) of the methods that the body of a type has."""
    for child in body.named_children:
        if child.type == "singleton_class":
            inside = child.child_by_field_name("body")
            yield from ((name, True) for name, _ in body_methods(inside)) if inside is not None else ()
            continue
        arguments = child.child_by_field_name("arguments") if child.type == "call" else None
        method = arguments.named_children[0] if arguments is not None and arguments.named_children else child
        if method.type in ("method", "singleton_method"):  # also `private def save`
            name = method.child_by_field_name("name")
            if name is not None:
                yield text_of(name), method.type == "singleton_method"


def is_scope(maker: str) -> bool:
    return maker == _SCOPE


def value_of_macro(maker: str, name: str, call: Node) -> str:
    """Return the chain of what the method returns that a macro makes of `name`: a scope's query,
    the objects of an association; "" if the call does not tell it.
    """
    if maker == _SCOPE:
        return SCOPED
    if maker not in _MANY and maker not in _SINGLE:
        return ""
    options = _options(call)
    if options.get("polymorphic") == "true":
        return ""
    chain = _class_name(options, name, is_plural=maker in _MANY)
    if not chain:
        return ""
    return f"{chain}{QUERY}" if maker in _MANY else f"{chain}{FIRST_OF_QUERY}"


def _options(call: Node) -> dict[str, str]:
    """Return the options of a macro with their texts, `class_name: "Story"`."""
    arguments = call.child_by_field_name("arguments")
    options = dict[str, str]()
    for pair in arguments.named_children if arguments is not None else ():
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if pair.type == "pair" and key is not None and value is not None:
            options[text_of(key).strip(":'\"")] = text_of(value)
    return options


def _class_name(options: dict[str, str], name: str, *, is_plural: bool) -> str:
    """Return the chain of the class of an association's objects."""
    if (written := options.get("class_name")) is not None:
        written = written.removesuffix(".name").strip(":'\"")
        return written.replace("::", ".") if _CLASS_NAME.fullmatch(written) else ""
    if "through" in options:
        source = options.get("source", f":{name}").strip(":'\"")
        if "source_type" in options:
            return ""
        name, is_plural = source, is_plural or source.endswith("s")
    return "".join(word.capitalize() for word in (singular(name) if is_plural else name).split("_"))


def singular(plural: str) -> str:
    """Return the singular of an English word, `stories` → `story`, by the endings of most."""
    for ending, replacement in _SINGULARS:
        if ending.search(plural):
            return ending.sub(replacement, plural)
    return plural
