"""Calls and passed functions among the tokens of a Rust macro's arguments:
`assert_eq!(self.store.total(), 3)`, `vec![save, load]`. The grammar only sees names and groups.
"""

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import LINKS_MAX, UNKNOWN, text_of

_NAMES = frozenset({"identifier", "self", "super", "crate"})
_JOINS = frozenset({".", "::"})
#: characters before a value among tokens
_BEGINNINGS = frozenset("([,=")
#: nodes with tokens that are evaluated; those of an attribute (`#[cfg(any(a, b))]`) are not
_HOLDERS = frozenset({"macro_invocation", "macro_rule"})


def _link(node: Node | None) -> str:
    """Return the name before a join; "crate" for a macro's `$crate`; "" for other tokens."""
    if node is None or node.type not in _NAMES:
        return "crate" if node is not None and node.text == b"$crate" else ""
    return text_of(node)


def _is_call(group: Node) -> bool:
    opening = group.child(0)
    return opening is not None and opening.type == "("


def is_passed(name: Node) -> bool:
    """Return True if a name, with the modules before it, is a whole value among tokens.

    The name is followed by a comma or the end.
    """
    before = name.prev_sibling
    while before is not None and before.type == "::":
        link = before.prev_sibling
        before = link.prev_sibling if link is not None and _link(link) else None
    return before is not None and before.type in _BEGINNINGS and _is_evaluated(name)


def path_before(name: Node) -> str:
    """Return a name among tokens with the modules before it: `store.save` of `store::save`."""
    links, before = [text_of(name)], name.prev_sibling
    while before is not None and before.type == "::" and (link := before.prev_sibling) is not None:
        links.append(_link(link))
        before = link.prev_sibling
    return ".".join(reversed(links))


def _is_evaluated(node: Node) -> bool:
    """Return True if tokens are a macro's arguments, and not an attribute's."""
    holder = node.parent
    while holder is not None and holder.type == "token_tree":
        holder = holder.parent
    return holder is not None and holder.type in _HOLDERS


def chain_of_tokens(name: Node, group: Node) -> str:
    """Return the chain of the callee in `name` followed by `group`; `?` if that is no call."""
    if name.end_byte != group.start_byte or not _is_call(group):
        return UNKNOWN
    before = name.prev_sibling
    if not _is_evaluated(group) or (before is not None and before.type == "fn"):
        return UNKNOWN
    links = [text_of(name)]
    while before is not None and before.type in _JOINS and len(links) < LINKS_MAX:
        link = before.prev_sibling
        called = link is not None and link.type == "token_tree" and _is_call(link)
        if called and link is not None:
            link = link.prev_sibling
        if link is None or not (text := _link(link)):
            return ".".join([UNKNOWN, *reversed(links)])
        links.append(text + "()" * called)
        before = link.prev_sibling
    return ".".join(reversed(links))
