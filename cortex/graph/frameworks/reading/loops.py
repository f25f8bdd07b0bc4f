"""Loops over literal lists: `[["/a", a], ["/b", b]].forEach(([path, router]) => …)` adds a route
or mount for each element.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of

#: elements of a list, lists in it, and fields of an element
ELEMENTS_MAX, DEPTH_MAX, FIELDS_MAX = 500, 4, 40
LISTS = frozenset("array list tuple set composite_literal object dictionary".split())
_ORDERED = frozenset("array list tuple set".split())
_KEYED = frozenset({"object", "dictionary"})
_PAIRS = frozenset("pair keyword_argument keyed_element".split())
#: patterns of several variables
_PATTERNS = frozenset("array_pattern pattern_list tuple_pattern expression_list list_pattern".split())
_SHORT = frozenset({"shorthand_property_identifier", "shorthand_property_identifier_pattern"})
_SPREADS = frozenset({"spread_element", "list_splat"})
_AROUND = frozenset(
    "as_expression satisfies_expression parenthesized_expression expression_list literal_element "
    "required_parameter".split()
)
_MAP = re.compile(r"new\s+(?:Map|Set)\b")
#: calls that run a function for each element, and those whose elements are keys with values
EACH = frozenset({"forEach", "map"})
_ENTRIES = frozenset({"entries", "items"})

#: finds the list that a name has as its value
Lists = Callable[[Node], Node | None]


@dataclass(frozen=True, slots=True)
class Loop:
    """`pattern`: the loop's variables; `iterated`: its list; `body`: what runs for each element."""

    pattern: Node
    iterated: Node
    body: Node


def loop_of(node: Node) -> Loop | None:
    """Return a loop over elements; None for another statement or call."""
    if (callee := node.child_by_field_name("function")) is not None:
        function = _first_of(node.child_by_field_name("arguments"))
        if function is None or text_of(callee).rpartition(".")[2] not in EACH:
            return None
        parameters = function.child_by_field_name("parameters")
        pattern = function.child_by_field_name("parameter") or _first_of(parameters)
        iterated: Node | None = _first_of(callee)
        body: Node | None = function
    else:
        around = _first_of(node)
        head = around if around is not None and around.type == "range_clause" else node
        operator, body = node.child_by_field_name("operator"), node.child_by_field_name("body")
        pattern, iterated = head.child_by_field_name("left"), head.child_by_field_name("right")
        if operator is not None and text_of(operator) == "in":
            return None
    if pattern is None or iterated is None or body is None:
        return None
    return Loop(pattern, iterated, body)


def _first_of(node: Node | None) -> Node | None:
    return node.named_children[0] if node is not None and node.named_child_count else None


def values_of(loop: Loop, find: Lists, grown: set[int]) -> list[dict[str, Node]]:
    """Return text of each variable, or field of one → its value, for each element of a literal
    list, {} for unknown ones; [] for another list. `grown`: the lists that get further elements.
    """
    iterated = unwrap(loop.iterated)
    inner = _entries_of(iterated)
    listed = find(inner or iterated)
    if listed is None:
        return []
    pattern, fields = unwrap(loop.pattern), _fields_of(listed)
    elements = islice(_elements(listed, find, grown, by_key=inner is not None), ELEMENTS_MAX)
    return [dict(islice(_bind(pattern, element, fields), FIELDS_MAX)) for element in elements]


def unwrap(node: Node) -> Node:
    for _ in range(DEPTH_MAX):
        if node.type in _AROUND and node.named_child_count:
            several = node.type == "expression_list" and node.named_child_count > 1
            node = node if several else node.named_children[0]
        elif node.type == "new_expression" and _MAP.match(text_of(node)[:20]):
            node = _first_of(node.child_by_field_name("arguments")) or node
    return node


def _entries_of(node: Node) -> Node | None:
    """Return the object of `Object.entries(routes)` or `routes.items()`."""
    callee, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if callee is None or listed is None or text_of(callee).rpartition(".")[2] not in _ENTRIES:
        return None
    return _first_of(listed) or _first_of(callee)


def _elements(
    listed: Node, find: Lists, grown: set[int], *, by_key: bool, depth: int = 0
) -> Iterator[tuple[Node, ...]]:
    """Yield the parts of each element, or the key and value of each entry; () for unknown ones."""
    listed = unwrap(listed)
    if listed.id in grown:
        yield ()
    kind, body = listed.type, listed.child_by_field_name("body")
    if kind == "composite_literal" and body is not None:  # Go's have the index or key before
        for child in body.named_children:
            inner = child.named_children
            if child.type == "keyed_element" and len(inner) > 1:
                yield unwrap(inner[0]), unwrap(inner[1])
            elif not child.is_extra:
                yield child, unwrap(child)
        return
    for child in listed.named_children if kind in _ORDERED or (by_key and kind in _KEYED) else ():
        key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
        if child.type in _SPREADS:
            other = find(child.named_children[0]) if depth < DEPTH_MAX else None
            if other is None:
                yield ()
            else:
                yield from _elements(other, find, grown, by_key=by_key, depth=depth + 1)
        elif kind in _KEYED and child.type in _SHORT:
            yield child, child
        elif kind in _KEYED and key is not None and value is not None:
            yield key, value
        elif kind in _ORDERED and not child.is_extra:
            yield (unwrap(child),)


def _bind(pattern: Node, element: tuple[Node, ...], fields: list[str]) -> Iterator[tuple[str, Node]]:
    if len(element) != 1:
        names = pattern.named_children if pattern.type in _PATTERNS else [pattern]
        for name, part in zip(names, element, strict=False):
            yield from _bind(unwrap(name), (part,), fields)
        return
    value = element[0]
    ordered = value.named_children if value.type in _ORDERED or value.type == "literal_value" else []
    pairs = dict(_pairs(value)) or {
        name: unwrap(part) for name, part in zip(fields, ordered, strict=False) if fields
    }
    if pattern.type in _PATTERNS:
        yield from (
            (text_of(name), part) for name, part in zip(pattern.named_children, ordered, strict=False)
        )
    elif pattern.type == "object_pattern":
        for child in pattern.named_children:
            is_short = child.type in _SHORT
            key = child if is_short else child.child_by_field_name("key")
            inner = child if is_short else child.child_by_field_name("value")
            if key is not None and inner is not None and text_of(key) in pairs:
                yield text_of(inner), pairs[text_of(key)]
    else:
        variable = text_of(pattern)
        yield variable, value
        for at, part in enumerate(ordered):
            yield f"{variable}[{at}]", part
        for field, part in pairs.items():
            yield f"{variable}.{field}", part
            yield f'{variable}["{field}"]', part
            yield f"{variable}['{field}']", part


def _pairs(value: Node) -> Iterator[tuple[str, Node]]:
    """Yield the fields of an object, also of `Entry(path="/a")`."""
    for child in (value.child_by_field_name("arguments") or value).named_children:
        if child.type in _SHORT:
            yield text_of(child), child
        elif child.type in _PAIRS and child.named_child_count > 1:
            key, part = child.named_children[0], child.named_children[-1]
            yield text_of(key).strip("'\""), unwrap(part)


def _fields_of(listed: Node) -> list[str]:
    """Return the fields of the structures in a list of Go: `[]struct{ path string }`."""
    kind = listed.child_by_field_name("type") if listed.type == "composite_literal" else None
    element = kind.child_by_field_name("element") if kind is not None else None
    name = text_of(element) if element is not None and element.type == "type_identifier" else ""
    root = listed
    while name and root.parent is not None:
        root = root.parent
    for declared in root.named_children if name else ():
        for row in declared.named_children if declared.type == "type_declaration" else ():
            if row.type == "type_spec" and text_of(row.named_children[0]) == name:
                element = row.child_by_field_name("type")
    nodes = [element] if element is not None and element.type == "struct_type" else []
    names = []
    while nodes:
        node = nodes.pop()
        if node.type == "field_declaration":
            names += [text_of(child) for child in node.children_by_field_name("name")]
        else:
            nodes += reversed(node.named_children)
    return names
