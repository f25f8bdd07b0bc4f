"""Definitions that the sweep reads: kind, scope and flags."""

import re
from dataclasses import dataclass, replace

from tree_sitter import Node

from cortex.graph.facts.captures import Captures
from cortex.graph.facts.declared.comments import comment_above, read_doc
from cortex.graph.facts.declared.flags import fixture_name, flags_of, is_of_class_itself
from cortex.graph.facts.declared.unnamed_types import unnamed_name
from cortex.graph.facts.expressions.chains import (
    TYPE_CHARS_MAX,
    UNKNOWN,
    chain_of,
    dotted_name,
    last_name,
    text_of,
    type_text,
)
from cortex.graph.facts.expressions.operators import CONVERSION, conversion_name
from cortex.graph.facts.facts import (
    ALIAS,
    ALSO,
    CALLED,
    MAKER,
    PACKAGE,
    SPECIALIZED,
    TESTED,
    Base,
    Definition,
    Member,
)
from cortex.graph.facts.rails import MACRO, body_methods, is_scope, value_of_macro
from cortex.graph.facts.ruby import (
    COMPUTED,
    PASSED_ON,
    computed_name,
    is_unnamed_class,
    template_names,
    words_given,
)
from cortex.graph.facts.scripts import is_type_part
from cortex.graph.sweep import accessors, scopes, script, signatures
from cortex.graph.sweep.bases import read_unnamed_bases
from cortex.graph.sweep.frames import Frame, OpenDefinition, is_in_impl
from cortex.graph.sweep.sweep import Sweep
from cortex.terms.kinds import TYPE_KINDS

#: captures of definitions that only scripts have
_OF_SCRIPTS = frozenset({"argument", "assigned", "member", "container"})
#: kind of the capture → kind of the definition, where they differ: Scala's `package object shop`;
#: Rust's `Shape::Circle(1)`, a call of a function; a member of a type that is declared or called
_KINDS = {
    **dict.fromkeys(("packaged", "anonymous"), "class"),
    **dict.fromkeys(("macro", "variant", "declared"), "function"),
    **dict.fromkeys(("part", "called", "computed"), "method"),
}
#: a method's name in an alias: no global variable
_METHOD = re.compile(r"[A-Za-z_]\w*[?!=]?|[-+*/%<>=~^&|!\[\]]+")


#: letters of the shortest name by which a method is found
_FOUND_MIN = 3


@dataclass(slots=True)
class _DefinitionSite:
    """The scope of a definition. `owner`: the node that names its type, where the code only names
    it.
    """

    name: str
    scope: str
    parent: int
    frame: Frame
    owner: Node | None = None
    flags: tuple[str, ...] = ()

    def move_into(self, outer: str, owner: Node) -> None:
        self.scope = f"{self.scope}.{outer}" if self.scope else outer
        self.parent, self.owner = -1, owner


def define(sweep: Sweep, kind: str, node: Node, captures: Captures) -> None:
    if sweep.is_script and kind in _OF_SCRIPTS:
        script.define(sweep, kind, node, captures)
        return
    name_node, frame = captures["name"][0], sweep.stack[-1]
    if not _is_definition(kind, node, frame):
        return
    if kind == "anonymous":
        _define_unnamed(sweep, node, captures)
        return
    if kind == "attribute":
        _define_attribute(sweep, name_node, text_of(captures["_attr"][0]))
        return
    name = CALLED if _has_no_name(kind, node) else text_of(name_node).strip("\"'`")
    if name_node.type == "simple_symbol":  # Ruby's `define_method(:save) do`
        name = name.lstrip(":")
    elif name_node.type == "operator_name":
        name = "".join(name.split())
    elif name_node.type == "operator_cast":
        name = conversion_name(name_node)
    elif node.type == "conversion_operator_declaration":
        name = CONVERSION + name
    elif not name_node.is_named:  # C#'s and Swift's operators
        name = sweep.syntax.operators.get(name, name)
    if kind == "container":
        scopes.enter_container(sweep, name, node, name_node)
    elif kind == "constant":
        if _is_constant(sweep, name, name_node):
            sweep.keep(OpenDefinition(name, kind, "", -1, node, name_node))
    elif kind == "property":
        if not accessors.has_accessors(sweep, node):
            _define_member(sweep, name, kind, node)
    elif kind == "alias":
        _define_alias(sweep, name, captures["alias.of"][0], node)
    elif node.type == "type_item" and is_in_impl(node):  # Rust's `type Err = Error;`
        type_node = node.child_by_field_name("type")
        frame.associated[f"Self::{name}"] = text_of(type_node) if type_node is not None else name
    else:
        _open_definition(sweep, kind, _definition_site(sweep, kind, name, node, captures), node, captures)


def _define_unnamed(sweep: Sweep, body: Node, captures: Captures) -> None:
    """Define an unnamed class, from its body: arguments of its constructor are outside of it."""
    frame = sweep.stack[-1]
    holder, name = unnamed_name(body)
    place = _DefinitionSite(name, f"{frame.qualified}.{holder}".strip("."), frame.index, frame)
    _open_definition(sweep, "anonymous", place, body, captures)
    read_unnamed_bases(sweep, body, frame)


def _has_body(scope: Node) -> bool:
    """Return False for a scope of routes, `scope "admin" do … end`, which is no query."""
    arguments = scope.child_by_field_name("arguments")
    values = arguments.named_children if arguments is not None else []
    return len(values) > 1 and values[1].type != "pair"


def _define_attribute(sweep: Sweep, node: Node, maker: str) -> None:
    """Define the reader and writer of Ruby's `attr_accessor :size`, or the method that a macro of
    Rails makes of its first word: `scope :recent, -> { … }`, which returns another scope.
    """
    frame, name = sweep.stack[-1], text_of(node).strip("'\":")
    call = node.parent
    while call is not None and call.type != "call":
        call = call.parent
    if not maker.startswith("attr_"):
        if frame.kind in TYPE_KINDS and call is not None and name.isidentifier():
            _define_by_macro(sweep, name, maker, call, node)
        return
    if frame.index < 0:  # of a group of tests, `describe Disk do … end`
        sweep.add_binding(name, f"self.@{name}", node)
    if frame.kind not in TYPE_KINDS or call is None:
        return
    flags = flags_of(call, sweep.syntax)
    for ending in ("",) * (maker != "attr_writer") + ("=",) * (maker != "attr_reader"):
        returns = "" if ending else f"self.@{name}"
        sweep.keep(
            OpenDefinition(
                name + ending,
                "method",
                frame.qualified,
                frame.index,
                node,
                node,
                returns=returns,
                flags=flags,
            )
        )


def _define_by_macro(sweep: Sweep, name: str, maker: str, call: Node, node: Node) -> None:
    """Define the method that a macro of Rails makes: none beside a method of its name in the same
    class, and none if the class has a method of the macro's name.
    """
    frame, is_static = sweep.stack[-1], is_scope(maker)
    if is_static and not _has_body(call):
        return
    holder = next(other for other in reversed(sweep.stack) if other.index == frame.index and not other.block)
    if holder.methods is None:
        body = holder.node.child_by_field_name("body") if holder.node is not None else None
        holder.methods = frozenset(body_methods(body)) if body is not None else frozenset()
    if (name, is_static) in holder.methods or (maker, True) in holder.methods:
        return
    flags = ("static",) if is_static else flags_of(call, sweep.syntax)
    sweep.keep(
        OpenDefinition(
            name,
            "method",
            frame.qualified,
            frame.index,
            call,
            node,
            returns=value_of_macro(maker, name, call),
            flags=(*flags, MACRO + maker),
        )
    )


def define_templates(sweep: Sweep, node: Node) -> None:
    """Define Ruby's methods that a type makes from words, and those that a macro, itself a method,
    makes from its argument: `def self.property(name) = define_method(name) { … }`.
    """
    frame = sweep.stack[-1]
    flags = flags_of(node, sweep.syntax)
    if frame.kind not in TYPE_KINDS:
        if frame.kind == "method" and (name := computed_name(node)):
            sweep.keep(OpenDefinition(name, "method", frame.qualified, frame.index, node, node, flags=flags))
        return
    for name, below, returns in template_names(node):
        opened = OpenDefinition(
            name, "method", frame.qualified, frame.index, node, node, returns=returns, flags=flags
        )
        opened.below = below or None
        sweep.keep(opened)


def bind_computed_methods(sweep: Sweep, call: Node, method: str) -> None:
    """Bind the words of a call in a Ruby type to the methods that the called macro may make of
    them: `property :first` to `first`, `first=` and `first?`; in a class method the method to which
    it passes its word on.
    """
    frame = sweep.stack[-1]
    if frame.kind in TYPE_KINDS:
        for name, word in words_given(call):
            for ending, link in COMPUTED.items():
                sweep.add_binding_between(name + ending, f"self.class.{method}{link}", word.start_byte, 0)
        return
    arguments = call.child_by_field_name("arguments")
    if frame.kind == "method" and (arguments is not None or call.type == method == "super"):
        words = {parameter.name for parameter in sweep.opened[frame.index].parameters[:1]}
        first = arguments.named_children[:1] if arguments is not None else ()
        if arguments is None or any(text_of(argument) in words for argument in first):
            called = f"super.{sweep.opened[frame.index].name}" if method == "super" else f"self.{method}"
            sweep.add_binding_between(PASSED_ON, called, frame.begin, 0)


def _define_member(sweep: Sweep, name: str, kind: str, node: Node) -> None:
    lines = node.start_point[0] + 1, node.end_point[0] + 1
    sweep.members.append(Member(name, kind, sweep.stack[-1].qualified, *lines))


def _define_alias(sweep: Sweep, name: str, of: Node, node: Node) -> None:
    """Define another name of one of the type's methods: Ruby's `alias store save`."""
    name, original = name.lstrip(":"), text_of(of).strip("'\":")
    if sweep.stack[-1].kind in TYPE_KINDS and _METHOD.fullmatch(name) and _METHOD.fullmatch(original):
        _define_member(sweep, name, "method", node)
        is_static = is_of_class_itself(node)
        sweep.add_binding(name, f"{'self.class' if is_static else 'self'}.{original}", node)
        sweep.aliases.append((sweep.stack[-1].index, name, original, node.start_byte, is_static))


def _is_definition(kind: str, node: Node, frame: Frame) -> bool:
    """True if a node that the query captures as a definition is one in this context."""
    if kind == "computed":  # Swift's `var size: Int { … }`, in a type a field
        return frame.kind == "container"
    if kind == "part" and not is_type_part(node):
        return False
    if kind == "anonymous" and node.type == "call":
        return is_unnamed_class(node)
    return not _has_no_name(kind, node) or (not frame.block and frame.kind in TYPE_KINDS)


def _has_no_name(kind: str, node: Node) -> bool:
    """True for a call signature of a script's type: `{ (x: number): Disk }`, `A & (() => Disk)`."""
    return kind == "called" or (kind == "part" and node.type != "property_signature")


def _is_constant(sweep: Sweep, name: str, name_node: Node) -> bool:
    """True if an assignment to a name defines a constant of the file."""
    if sweep.stack[-1].index >= 0:
        return False
    if sweep.rules.capital_constants:
        return name.isupper() and len(name) > 1
    return not (sweep.is_script and script.is_required_name(sweep, name_node))


def _definition_site(sweep: Sweep, kind: str, name: str, node: Node, captures: Captures) -> _DefinitionSite:
    name_node, frame = captures["name"][0], sweep.stack[-1]
    place = _DefinitionSite(name, frame.qualified, frame.index, frame)
    if kind == "packaged":
        place.scope, place.name = f"{place.scope}.{name}".lstrip("."), PACKAGE
    if kind == "macro":
        sweep.macros[name] = node
        # valid from there on in each file that includes this one
        place = _DefinitionSite(name + sweep.rules.macro_mark, "", -1, sweep.stack[0])
    if place.frame.kind == "container":
        place.parent = -1
    if owners := captures.get("owner"):
        place.scope, place.parent, place.owner = accessors.type_scope(owners[0]), -1, owners[0]
    if name_node.type in ("qualified_identifier", "scope_resolution"):
        _qualify(sweep, place, name_node)
    if name_node.type == "scope_resolution":  # Ruby's `class Shop::Disk` sees the modules around it
        place.parent, place.owner = frame.index, None
    if sweep.syntax.test_name is not None and (test := sweep.syntax.test_name(node, place.name)):
        outer, place.name = test
        place.move_into(outer, name_node)
        place.flags = (TESTED,)
    return place


def _qualify(sweep: Sweep, place: _DefinitionSite, name_node: Node) -> None:
    """Set the scope and name of C++'s `void ns::Type::method()`, Ruby's `class Shop::Disk`."""
    outer, _, name = chain_of(name_node, sweep.syntax).rpartition(".")
    last = last_name(name_node, sweep.syntax)
    if last.type == "operator_cast":
        name = conversion_name(last)
    elif name == UNKNOWN:
        name = "".join(text_of(name_node).rpartition("::")[2].split())
    place.name = name
    first, dot, _ = outer.partition(".")
    if dot and first == place.scope.partition(".")[0]:  # the full name, inside the name space itself
        place.scope = ""
    place.move_into(outer, name_node)


def _open_definition(
    sweep: Sweep, written: str, place: _DefinitionSite, node: Node, captures: Captures
) -> None:
    frame, name_node = place.frame, captures["name"][0]
    is_member = place.owner is not None or frame.kind in TYPE_KINDS
    # Ruby's `base.class_eval do def save … end` in a method: nothing tells the type that gets it
    is_member = is_member or (sweep.rules.class_methods and frame.block and frame.kind == "method")
    is_member = is_member or (frame.kind == "container" and not sweep.rules.name_spaces)
    kind = _KINDS.get(written, written)
    if kind == "function" and written != "variant" and is_member:
        kind = "method"
    returns = ":Self" if written == "variant" else ""
    if types := captures.get("computed.type"):
        returns = f":{type_text(types[0])}"
    flags = (*place.flags, *flags_of(node, sweep.syntax), *("declared",) * (written == "declared"))
    if "fixture" in flags and (fixture := fixture_name(node)):
        sweep.exports[fixture] = place.name
    if name_node.parent is not None and name_node.parent.type == "template_type":
        flags = (*flags, SPECIALIZED)
    if sweep.syntax.flags is not None:
        flags = (*flags, *sweep.syntax.flags(node, place.owner, place.scope))
    sweep.enter(
        OpenDefinition(
            place.name, kind, place.scope, place.parent, node, name_node, returns=returns, flags=flags
        )
    )
    _read_head(sweep, node, frame)


def _read_head(sweep: Sweep, node: Node, frame: Frame) -> None:
    """Read the parameters, the doc comment and the bounds of a definition that was just entered."""
    head = sweep.syntax.head_parameters
    if head is not None and node.type == head[0]:
        sweep.opened[-1].parameters += head[1](node)
    if sweep.syntax.phpdoc:
        _apply_doc(sweep, node)
    if frame.kind == "container" or frame.kind in TYPE_KINDS:
        for parameter, bound in frame.bounds.items():
            signatures.read_bound(sweep, parameter, bound)


def _apply_doc(sweep: Sweep, node: Node) -> None:
    """Apply PHP's doc comment above a definition to it."""
    definition = sweep.opened[-1]
    outer = sweep.opened[definition.parent].doc.bounds if definition.parent >= 0 else {}
    definition.doc = doc = read_doc(node, outer)
    definition.flags += (MAKER,) * doc.makes
    if sweep.stack[-1].kind not in TYPE_KINDS:
        return
    for name, type_name in doc.properties.items():
        sweep.add_binding(name.lstrip("$"), f":{type_name}"[:TYPE_CHARS_MAX], node)
    above = comment_above(node) or node
    row = above.start_point[0] + 1
    for mixin in doc.mixins:
        definition.bases.append(Base(ALIAS, dotted_name(mixin.name), row + mixin.line, 0))
    for method in doc.methods:
        returns = f":{method.type}"[:TYPE_CHARS_MAX] if method.type else ""
        opened = OpenDefinition(
            method.name, "method", sweep.stack[-1].qualified, sweep.stack[-1].index, above, above
        )
        sweep.comment_methods.append(replace(opened, returns=returns, flags=("declared",), below=method.line))


def _flag_aliases(sweep: Sweep) -> None:
    """Flag the methods above an alias with their other name: a call by it is found by name, too."""
    last = {
        (definition.parent, definition.name, "static" in definition.flags): definition
        for definition in sweep.opened
    }
    for parent, name, original, at, is_static in sweep.aliases:
        definition = last.get((parent, original, is_static))
        renewed = last.get((parent, name, is_static))
        is_hidden = renewed is not None and renewed.node.start_byte > at
        if definition is None or definition.node.start_byte > at or is_hidden:
            continue
        if len(name) >= _FOUND_MIN:
            definition.flags = (*definition.flags, ALSO + name)


def finish_definitions(sweep: Sweep) -> tuple[Definition, ...]:
    """Return all definitions of the file, at its end."""
    if sweep.aliases:
        _flag_aliases(sweep)
    written = {(definition.parent, definition.name) for definition in sweep.opened}
    sweep.opened += (
        definition
        for definition in sweep.comment_methods
        if (definition.parent, definition.name) not in written
    )
    return tuple(
        definition.finish(script.finished_flags(sweep, definition) if sweep.is_script else definition.flags)
        for definition in sweep.opened
    )
