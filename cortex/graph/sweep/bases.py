"""Supertypes that the sweep reads: in a definition, or in a container such as Rust's `impl`."""

from itertools import pairwise

import msgspec
from tree_sitter import Node

from cortex.graph.facts.declared.generics import arguments_text
from cortex.graph.facts.declared.types import ITSELF, alternatives
from cortex.graph.facts.declared.unnamed_types import is_enum_constant, is_unnamed_base, unnamed_bases
from cortex.graph.facts.expressions.chains import (
    LITERAL,
    UNKNOWN,
    chain_of,
    combined_types,
    strip_call,
    text_of,
    type_text,
)
from cortex.graph.facts.facts import (
    ALIAS,
    ANY_NAME,
    DERIVED,
    EXTENDED,
    EXTENDED_HEIRS,
    INCLUDED,
    TO_HEIRS,
    Base,
    Extension,
)
from cortex.graph.facts.ruby import extends, is_statement
from cortex.graph.facts.scripts import record_value_type
from cortex.graph.sweep.frames import Frame
from cortex.graph.sweep.sweep import Sweep
from cortex.terms.kinds import TYPE_KINDS

#: the module of Rails that lets a module extend the types which include it, and the name of the
#: module inside that extends them
_CONCERN, _OF_CONCERN = "ActiveSupport.Concern", "ClassMethods"


#: traits of Rust's library
_STANDARD = frozenset("Clone Copy Debug Default Eq Hash Ord PartialEq PartialOrd".split())


def read_base(sweep: Sweep, relation: str, node: Node) -> None:
    """Read a supertype of the type around it; `read_unnamed_bases` has those of unnamed classes."""
    if not is_unnamed_base(node):
        _read(sweep, relation, node)


def read_unnamed_bases(sweep: Sweep, body: Node, around: Frame) -> None:
    """Read the supertypes of the unnamed class that the sweep has just entered: they precede its
    body. That of an enum's constant is the enum `around` it.
    """
    if is_enum_constant(body):
        row, column = body.start_point
        _add_base(sweep, Base("extends", around.qualified.rpartition(".")[2], row + 1, column, ""), body)
        return
    for name in unnamed_bases(body):
        _read(sweep, "extends", name)


def read_derived(sweep: Sweep, traits: Node) -> None:
    """Read the traits of `#[derive(Parser, clap::Args)]`, for the type below."""
    names = list[str]()
    for token, after in pairwise((*traits.children[1:], None)):
        if token is None or token.type != "identifier":
            continue
        names.append(text_of(token))
        if after is None or after.type != "::":
            row, column = token.start_point
            if names[-1] not in _STANDARD:
                sweep.derived.append(Base(DERIVED, ".".join(names), row + 1, column))
            names.clear()


def _read(sweep: Sweep, relation: str, node: Node) -> None:
    if parts := combined_types(node):
        for type_node in parts:
            _read(sweep, relation, type_node)
        return
    if sweep.is_script and (value := record_value_type(node)) is not None:
        sweep.add_binding(ANY_NAME, f":{type_text(value)}", node)
        return
    if (chain := _base_chain(sweep, relation, node)) is not None:
        arguments = arguments_text(node) if sweep.rules.type_arguments else ""
        row, column = node.start_point
        if sweep.stack[-1].index < 0 and sweep.rules.file_fields and is_statement(node):
            sweep.add_binding(INCLUDED, chain, node)
        _add_base(sweep, Base(relation, chain, row + 1, column, arguments), node)


def _base_chain(sweep: Sweep, relation: str, node: Node) -> str | None:
    """Return the chain of a supertype, None if it has no name."""
    chain = strip_call(chain_of(node, sweep.syntax)).removesuffix("[]")
    if sweep.rules.makes_by_new and node.type == "call":
        chain = chain.removesuffix(".new")  # Ruby's `class Size < Options.new(:width)`
    if relation == ALIAS and sweep.rules.pointer_aliases and (aliased := alternatives(text_of(node))):
        chain = chain if aliased[0].endswith("*") else aliased[0].removeprefix(ITSELF)  # of smart pointers
    if node.type == "user_type" and sum(child.type == "identifier" for child in node.children) > 1:
        chain = text_of(node).partition("<")[0]  # Kotlin's `Outer.Base`
    if chain in (UNKNOWN, LITERAL) or chain.startswith(":"):
        names = alternatives(text_of(node))
        return names[0].removeprefix(ITSELF) if names else None
    return chain


def _add_base(sweep: Sweep, base: Base, node: Node) -> None:
    frame = sweep.stack[-1]
    if frame.kind == "container":
        sweep.extensions.append(Extension(frame.qualified, base, frame.begin, frame.end))
        return
    hook = sweep.rules.included_hook
    if frame.index >= 0 and hook and sweep.opened[frame.index].name == hook:
        frame = sweep.stack[-2]  # `base.extend(Made)`: extends each class that includes the module
        base = msgspec.structs.replace(base, arguments=EXTENDED_HEIRS if extends(node) else TO_HEIRS)
    elif hook and extends(node):
        base = msgspec.structs.replace(base, arguments=EXTENDED)
    if frame.index >= 0 and sweep.opened[frame.index].kind in TYPE_KINDS:
        if hook and base.arguments == EXTENDED and base.chain.lstrip("\\") == _CONCERN:
            methods = Base(base.relation, _OF_CONCERN, base.line, base.column, EXTENDED_HEIRS)
            sweep.opened[frame.index].bases.append(methods)
        sweep.opened[frame.index].bases.append(base)
