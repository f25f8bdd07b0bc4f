"""Calls among the tokens of a Rust macro's arguments: `assert_eq!(self.store.total(), 3)`. To the
grammar they are names and groups in a row.
"""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.chains import LINKS_MAX, UNKNOWN, text_of

_NAMES = frozenset({"identifier", "self", "super", "crate"})
_JOINS = frozenset({".", "::"})
#: what holds tokens that are evaluated; those of an attribute (`#[cfg(any(a, b))]`) are not
_HOLDERS = frozenset({"macro_invocation", "macro_rule"})


def _is_call(group: Node) -> bool:
    opening = group.child(0)
    return opening is not None and opening.type == "("


def chain_of_tokens(name: Node, group: Node) -> str:
    """The chain of what is called where `group` follows `name`; `?` when that is no call."""
    if name.end_byte != group.start_byte or not _is_call(group):
        return UNKNOWN
    holder = group.parent
    while holder is not None and holder.type == "token_tree":
        holder = holder.parent
    before = name.prev_sibling
    if holder is None or holder.type not in _HOLDERS or (before is not None and before.type == "fn"):
        return UNKNOWN
    links = [text_of(name)]
    while before is not None and before.type in _JOINS and len(links) < LINKS_MAX:
        link = before.prev_sibling
        called = link is not None and link.type == "token_tree" and _is_call(link)
        if called and link is not None:
            link = link.prev_sibling
        if link is None or link.type not in _NAMES:
            return ".".join([UNKNOWN, *reversed(links)])
        links.append(text_of(link) + "()" * called)
        before = link.prev_sibling
    return ".".join(reversed(links))
