"""Calls of source files that are no sites of truth_sites.py, by their form. Reads syntax trees.

A bare name in Ruby that may be a call (`size`) looks like a variable, so it is not counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tree_sitter import Node
from truth_sites import File, Site, is_name

#: types of nodes that call something, in the grammars of all languages
_CALLS = frozenset(
    "call call_expression method_invocation object_creation_expression explicit_constructor_invocation "
    "new_expression instance_expression invocation_expression implicit_object_creation_expression "
    "constructor_invocation constructor_expression macro_invocation function_call_expression "
    "member_call_expression nullsafe_member_call_expression scoped_call_expression".split()
)
_ELEMENTS = frozenset({"jsx_opening_element", "jsx_self_closing_element"})
_BINARY = frozenset({"binary", "binary_operator", "binary_expression", "infix_expression"})
#: languages in which a project can define an operator
_OPERATORS = frozenset("python kotlin scala csharp cpp rust swift ruby".split())
#: nodes that hold the arguments of a call, in parentheses or as one function
_ARGUMENTS = frozenset(
    "arguments argument_list value_arguments call_suffix annotated_lambda token_tree block do_block "
    "template_string type_arguments declaration_list class_body template_body case_block initializer_expression".split()
)
_TYPE_ARGUMENTS = re.compile("type_argument|template_argument")
_BLOCKS = frozenset({"annotated_lambda", "case_block", "block", "do_block", "lambda_literal"})
#: forms of calls; a block is a trailing function, or that of a Rust macro. Most operators are the
#: language's own, so they are counted apart
PARENTHESES, BLOCK, OTHER, INFIX, JSX, DECORATOR, OPERATOR = (
    "without parentheses",
    "block",
    "other callee",
    "infix",
    "JSX",
    "decorator",
    "operator",
)


def calls_left_out(file: File, sites: Sequence[Site]) -> Counter[str]:
    """Return form → number of the calls in `file` that are none of its `sites`."""
    positions = {(line - 1, column) for _, line, column in sites}
    forms = (_form(file, node, positions) for node in _nodes(file.tree.root_node))
    return Counter(form for form in forms if form)


def _nodes(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        pending.extend(node.named_children)
        yield node


def _form(file: File, node: Node, positions: set[tuple[int, int]]) -> str:
    """Return the form of a call that is no site, "" for sites and other nodes."""
    if node.type in _ELEMENTS:
        name = node.child_by_field_name("name")
        is_tag = name is None or (name.type == "identifier" and (name.text or b"")[:1].islower())
        return "" if is_tag else JSX
    if node.type == "decorator":
        return "" if any(child.type in _CALLS for child in node.named_children) else DECORATOR
    if node.type in _BINARY:
        middle = node.named_children[1:2]
        is_word = middle and is_name(middle[0]) and middle[0].type != "operator_identifier"
        if node.type == "infix_expression" and is_word:
            return "" if middle[0].start_point in positions else INFIX
        return OPERATOR if file.language in _OPERATORS else ""
    return _form_of_call(file, node, positions) if node.type in _CALLS else ""


def _form_of_call(file: File, node: Node, positions: set[tuple[int, int]]) -> str:
    callee = [child for child in node.named_children if child.type not in _ARGUMENTS]
    arguments = [child for child in node.named_children if child.type in _ARGUMENTS]
    beginnings = {(argument.text or b"")[:1] for argument in arguments}
    is_curried = file.language == "scala" or (arguments and arguments[0].type in _BLOCKS)
    if callee and callee[-1].type in _CALLS and is_curried:
        return ""  # `fold(a) { … }` in Kotlin and Scala is a call in a call
    if file.language == "swift" and b"[" in beginnings:
        return ""  # a subscript
    name = _last_name(callee[-1]) if callee else None
    if name is not None and name.start_point in positions:
        return ""
    is_nameless = name is None or callee[-1].type in _CALLS or callee[-1].type.startswith("parenthesized")
    if is_nameless or b"(" in beginnings:
        return OTHER
    has_block = b"{" in beginnings or any(argument.type in _BLOCKS for argument in arguments)
    return BLOCK if has_block else PARENTHESES


def _last_name(node: Node) -> Node | None:
    """Return the last name of a callee, before its type arguments."""
    while node.named_child_count:
        children = [child for child in node.named_children if not _TYPE_ARGUMENTS.search(child.type)]
        if not children:
            return None
        node = children[-1]
    return node if is_name(node) else None
