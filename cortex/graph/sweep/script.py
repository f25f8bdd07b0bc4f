"""JavaScript and TypeScript in the sweep: functions assigned to members, object literals, CommonJS
modules. facts/scripts.py reads the nodes.
"""

from collections.abc import Mapping

from tree_sitter import Node

from cortex.graph.facts import scripts
from cortex.graph.facts.captures import Captures
from cortex.graph.facts.declared.jsdoc import doc_above
from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.expressions.callback_types import callback_parameter, parameter_of
from cortex.graph.facts.expressions.chains import (
    LITERAL,
    UNKNOWN,
    chain_of,
    required_module,
    text_of,
    type_text,
)
from cortex.graph.facts.expressions.wrapped_values import FUNCTIONS, own_name, wrapped_functions
from cortex.graph.facts.facts import (
    CONSTRUCTOR,
    EXPORTED,
    HOLDER,
    LITERAL_ARGUMENT,
    OBJECT,
    Base,
    Extension,
    module_link,
    module_of,
)
from cortex.graph.facts.scripts import EXPORTS, MODULE_EXPORTS
from cortex.graph.sweep import scopes
from cortex.graph.sweep.frames import Frame, OpenDefinition
from cortex.graph.sweep.sweep import Sweep
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: nodes around a callee that TypeScript's grammar misreads or that carry no meaning: it parses
#: `await f<T>()` as a call of `await f`
_AROUND_CALLEE = frozenset({"await_expression", "non_null_expression"})
#: nodes that give a value its type
_TYPED = frozenset({"as_expression", "satisfies_expression"})


def define(sweep: Sweep, kind: str, node: Node, captures: Captures) -> None:
    if kind == "container":
        _enter_literal(sweep, node)
    elif kind == "member":
        _define_member(sweep, node, captures["name"][0])
    elif kind == "argument":
        _define_argument(sweep, node, captures["name"][0])
    else:
        _define_assigned(sweep, node, captures["name"][0])


def is_required_name(sweep: Sweep, name: Node) -> bool:
    """True for a name from a module: `const { name } = require("x")`."""
    value = scripts.destructured_member(name)[1]
    return value is not None and bool(module_of(chain_of(value, sweep.syntax)))


def finished_flags(sweep: Sweep, definition: OpenDefinition) -> tuple[str, ...]:
    """Return the flags of a definition at the end of the file."""
    qualified = f"{definition.scope}.{definition.name}" if definition.scope else definition.name
    flag = sweep.holders.get(qualified, "")
    if flag and definition.kind in ("function", "constant"):
        return (*definition.flags, flag if definition.kind == "function" else HOLDER)
    return definition.flags


def _mark_holder(sweep: Sweep, owner: str, *, constructor: bool) -> None:
    if constructor or owner not in sweep.holders:
        sweep.holders[owner] = CONSTRUCTOR if constructor else HOLDER


def _enter_literal(sweep: Sweep, node: Node) -> None:
    """Enter an object literal: its members are found by its name."""
    frame = sweep.stack[-1]
    if scripts.is_returned(node):
        _enter_returned(sweep, node, frame)
        return
    owner = scripts.owner_of_literal(node)
    if owner.name in ("", "this"):
        return
    around = node.parent
    if around is not None and around.type == "variable_declarator" and (frame.index >= 0 or frame.block):
        name_node = around.child_by_field_name("name")
        if name_node is None or not scripts.has_functions(node):
            return
        sweep.keep(OpenDefinition(owner.name, "constant", frame.qualified, frame.index, around, name_node))
    elif frame.index >= 0 and not owner.prototype:
        return
    scope = "" if owner.name == EXPORTS else _qualified_name(frame.qualified, owner.name)
    sweep.stack.append(
        Frame(node.start_byte, node.end_byte, frame.index, scope, "container", block=False, node=node)
    )
    if scope:
        _mark_holder(sweep, scope, constructor=owner.prototype)
        _implement(_declared_constant(sweep, around), node)
    for name, value in scripts.members_of(node):
        chain = name if value.type == "shorthand_property_identifier" else chain_of(value, sweep.syntax)
        if chain not in (UNKNOWN, LITERAL) and not (chain == name and owner.name == EXPORTS):
            sweep.add_binding(f"{owner.name}.{name}", chain, value)


def _declared_constant(sweep: Sweep, declarator: Node | None) -> tuple[OpenDefinition | None, str]:
    """Return the definition of a declared variable, and its type: `const disk: Disk = {}`, `const
    disk = {} as Disk`.
    """
    kind = declarator.child_by_field_name("type") if declarator is not None else None
    if declarator is not None and declarator.type in _TYPED:
        kind, declarator = declarator.named_children[-1], declarator.parent
    name = declarator.child_by_field_name("name") if declarator is not None else None
    if kind is None or name is None:
        return None, ""
    named = (opened for opened in reversed(sweep.opened) if opened.name_node.start_byte == name.start_byte)
    return next(named, None), type_text(kind)


def _implement(holder: tuple[OpenDefinition | None, str], literal: Node) -> None:
    """Make a definition implement the declared type of an object literal that it holds."""
    definition, type_name = holder
    names = alternatives(type_name) if definition is not None and scripts.has_functions(literal) else ()
    if definition is not None and len(names) == 1 and not names[0].endswith("*"):
        place = literal.start_point[0] + 1, literal.start_point[1]
        definition.bases.append(Base("implements", names[0], *place))


def give_literal(sweep: Sweep, literal: Node) -> None:
    """Refer to the type of the parameter that gets an object literal with functions."""
    if scripts.has_functions(literal):
        chain = parameter_of(literal, sweep.syntax)
        if chain != UNKNOWN:
            sweep.add_reference(LITERAL_ARGUMENT, chain, literal)


def _enter_returned(sweep: Sweep, literal: Node, frame: Frame) -> None:
    """Enter `return { open() {…}, close }`: the function's result has these members."""
    definition = sweep.opened[frame.index] if frame.index >= 0 else None
    if (
        definition is None
        or definition.kind not in CALLABLE_KINDS
        or not scripts.is_in_function(literal, definition.node)
    ):
        return
    begin, end = literal.byte_range
    sweep.stack.append(
        Frame(begin, end, frame.index, frame.qualified, "container", block=False, node=literal)
    )
    definition.inferred.append(OBJECT)
    if definition.returns[:1] == ":":
        _implement((definition, definition.returns[1:]), literal)
    for name, value in scripts.members_of(literal):
        chain = name if value.type == "shorthand_property_identifier" else chain_of(value, sweep.syntax)
        if chain not in (UNKNOWN, LITERAL):
            sweep.add_binding(f"{frame.qualified}.{name}", chain, value)


def _define_member(sweep: Sweep, node: Node, name_node: Node) -> None:
    """Define a function in an object literal; nothing if the literal has no name."""
    frame, literal = sweep.stack[-1], node.parent
    if frame.kind != "container" or frame.node is None or literal is None:
        return
    if literal.byte_range == frame.node.byte_range:
        kind = "method" if frame.qualified else "function"
        flags = () if frame.qualified else (EXPORTED,)
        name = text_of(name_node).strip("\"'`")
        sweep.enter(OpenDefinition(name, kind, frame.qualified, frame.index, node, name_node, flags=flags))


def _define_argument(sweep: Sweep, node: Node, name_node: Node) -> None:
    """Define the function of `wrap(function save() {})`, and refer to it as a value of the function
    around. Its name is valid inside it alone.
    """
    if node.byte_range in sweep.wrapped:
        return
    frame = sweep.stack[-1]
    sweep.add_reference("value", text_of(name_node), name_node)
    sweep.enter(OpenDefinition(text_of(name_node), "function", frame.qualified, frame.index, node, name_node))
    sweep.opened[-1].since, sweep.opened[-1].until = node.byte_range


def _define_assigned(sweep: Sweep, node: Node, name_node: Node) -> None:
    """Define the function or class of `a.b = function () {}`, `module.exports = class {}`."""
    if (right := node.child_by_field_name("right")) is not None:
        _define_at(sweep, node, name_node, right, node)


def _define_at(sweep: Sweep, assignment: Node, name_node: Node, right: Node, node: Node) -> None:
    """Define the function or class `right` of an assignment; its definition is `node`."""
    left = assignment.child_by_field_name("left")
    if left is None:
        return
    name, scope, flags = text_of(name_node), "", tuple[str, ...]()
    frame = sweep.stack[-1]
    if text_of(left) == MODULE_EXPORTS:
        name_node = right.child_by_field_name("name") or name_node
        name = text_of(name_node)
    else:
        owner = scripts.owner_of(left.child_by_field_name("object"))
        if owner.name == "this":
            scope = _own_type(sweep, frame)
        elif owner.prototype or (frame.index < 0 and owner.name != EXPORTS):
            scope = _qualified_name(frame.qualified, owner.name) if owner.name else ""
        if not scope and owner.name != EXPORTS:
            return
        if scope:
            _mark_holder(sweep, scope, constructor=owner.prototype or owner.name == "this")
        else:
            flags = (EXPORTED,)
    kind = "class" if right.type == "class" else "method" if scope else "function"
    sweep.enter(OpenDefinition(name, kind, scope, frame.index, node, name_node, flags=flags))


def find_wrapped(sweep: Sweep, value: Node) -> None:
    """Note the functions within a value: `export default ready && function save() {}`,
    `exports.save = wrap(function () {})`. The sweep defines them as it reaches them.
    """
    statement = value.parent
    if statement is None:
        return
    for function in wrapped_functions(value):
        sweep.wrapped[function.byte_range] = statement
        if statement.type == "export_statement" and (name := own_name(function)):
            sweep.add_binding("default", name, function)


def define_wrapped(sweep: Sweep, node: Node) -> None:
    """Define a function or class that `find_wrapped` noted."""
    statement = sweep.wrapped.pop(node.byte_range)
    name_node = node.child_by_field_name("name")
    if statement.type == "export_statement":
        frame, kind = sweep.stack[-1], "class" if node.type == "class" else "function"
        name = text_of(name_node) if name_node is not None else "default"
        sweep.enter(OpenDefinition(name, kind, frame.qualified, frame.index, node, name_node or node))
    else:
        left = statement.child_by_field_name("left")
        member = left.child_by_field_name("property") if left is not None else None
        before = len(sweep.opened)
        if member is not None:
            _define_at(sweep, statement, member, node, node)
        if len(sweep.opened) == before:
            if node.type != "class":
                scopes.enter_block(sweep, node)
            return
    if sweep.syntax.jsdoc and node.type != "class":
        sweep.opened[-1].doc = doc_above(statement)


def _own_type(sweep: Sweep, frame: Frame) -> str:
    """Return the type of `this` in a function: the class around a method, else the function."""
    if frame.index < 0 or frame.block:
        return ""
    definition = sweep.opened[frame.index]
    if definition.kind == "method":
        return definition.scope
    return frame.qualified if definition.kind in CALLABLE_KINDS else ""


def binding_name(name: str) -> str:
    """Return the name of an assignment's target as bindings have it."""
    if name.count(".") > 1:
        return (
            name.removeprefix("module.")
            if name.startswith(f"{MODULE_EXPORTS}.")
            else name.replace(".prototype.", ".", 1)
        )
    return name


def assign(sweep: Sweep, name: str, node: Node, value: Node) -> None:
    """Bind `name = value`, `const name = value`."""
    last = scripts.assigned_value(value)
    chain = chain_of(last, sweep.syntax)
    if (
        last is not value
        and text_of(last) in (MODULE_EXPORTS, EXPORTS)
        and name.partition(".")[0] not in ("module", EXPORTS)
    ):
        # `const app = module.exports = {}`: the export has its name from here
        sweep.add_binding(MODULE_EXPORTS, name, node)
        chain = LITERAL
    elif name == MODULE_EXPORTS and chain in (UNKNOWN, LITERAL):
        if (function_name := _name_of_function(value)) is not None:
            chain = function_name
    elif module := required_module(value) if value.type == "call_expression" else "":
        sweep.add_import((name, module, "", False), value)
    if name == MODULE_EXPORTS or "." not in name or chain not in (UNKNOWN, LITERAL):
        sweep.add_binding(name, chain, node)
    if name == MODULE_EXPORTS and value.type == "call_expression":
        for function in wrapped_functions(value):  # the result of the call, or what it wraps
            sweep.add_binding(name, own_name(function) or EXPORTS, node)


def bind_destructured(sweep: Sweep, node: Node) -> bool:
    """Return True if a name has no plain binding, and bind a destructured one.

    Such a name is destructured, or is a member of a type: `const x: { name: string }`.
    """
    if scripts.is_destructured(node):
        _take_apart(sweep, node)
        return True
    around = node.parent
    in_type = sweep.stack[-1].kind in TYPE_KINDS
    return around is not None and around.type == "property_signature" and not in_type


def file_exports(sweep: Sweep, exports: Mapping[str, str], node: Node) -> Mapping[str, str]:
    """Return the names of `exports` that the file exports; in a name space none: it gets them as
    members.
    """
    frame = sweep.stack[-1]
    if frame.kind != "module":
        return exports
    for name, local in exports.items():
        sweep.add_binding(f"{frame.qualified}.{name}", local, node)
    return {}


def bind_module_export(sweep: Sweep, name: str, node: Node) -> None:
    """Bind an export of a name space as its member: `namespace disk { export let save: Saver }`."""
    frame, around = sweep.stack[-1], node.parent
    if frame.kind == "module" and around is not None and scripts.is_exported(around):
        sweep.add_binding(f"{frame.qualified}.{name}", name, node)


def bind_default_export(sweep: Sweep, export: Node) -> None:
    """Bind `export default make()`: a value without a name."""
    value = scripts.default_export_value(export)
    chain = chain_of(value, sweep.syntax) if value is not None else UNKNOWN
    if chain not in (UNKNOWN, LITERAL):
        sweep.add_binding("default", chain, export)


def _take_apart(sweep: Sweep, node: Node) -> None:
    """Bind a name in `const { a, b: name } = value`."""
    member, value = scripts.destructured_member(node)
    chain = chain_of(value, sweep.syntax) if value is not None else UNKNOWN
    if value is None and (pattern := scripts.parameter_pattern(node)) is not None:
        chain = callback_parameter(pattern, sweep.syntax)
        if module_of(chain):  # `import("./x").then(({ save }) => …)`
            sweep.add_binding(text_of(node), f"{chain}.{member}", node)
            return
        chain = UNKNOWN
    if chain in (UNKNOWN, LITERAL) or chain.startswith(":"):
        sweep.add_binding(text_of(node), UNKNOWN, node)
    elif module := module_of(chain) if "." not in chain else "":
        sweep.add_import((text_of(node), module, member, False), node)
    else:
        sweep.add_binding(text_of(node), f"{chain}.{member}", node)


def read_callee(sweep: Sweep, call: Node, callee: Node) -> Node:
    """Return the callee without its wrapping nodes; read imports and inheritance from the call."""
    if scripts.is_special(callee):
        _read_special(sweep, call, callee)
    while callee.type in _AROUND_CALLEE and (inner := callee.named_child(0)) is not None:
        callee = inner
    return callee


def _read_special(sweep: Sweep, call: Node, callee: Node) -> None:
    """Read the imports and the inheritance of a call."""
    if module := required_module(call):
        sweep.add_import(("", module, "", False), call)
        if callee.type == "import" and scripts.is_loader(call):
            sweep.add_reference("value", f"{module_link(module)}.default", call)
    elif (inheritance := scripts.read_inheritance(call)) is not None:
        _inherit(sweep, *inheritance, "extends")
    else:
        for owner, mixin in scripts.read_mixins(call):
            _inherit(sweep, owner, mixin, "embeds")


def _inherit(sweep: Sweep, owner: scripts.Owner, base: Node, relation: str) -> None:
    chain = chain_of(base, sweep.syntax)
    if chain not in (UNKNOWN, LITERAL):
        place = base.start_point[0] + 1, base.start_point[1]
        sweep.extensions.append(Extension(owner.name, Base(relation, chain, *place)))
        _mark_holder(sweep, owner.name, constructor=relation == "extends" or owner.prototype)


def _qualified_name(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def _name_of_function(value: Node) -> str | None:
    """Return the name of a function or class that is assigned to `module.exports`, None for other
    nodes.
    """
    if value.type not in FUNCTIONS:
        value, *_ = *wrapped_functions(value), value
        if value.type not in FUNCTIONS:
            return None
    name_node = value.child_by_field_name("name")
    return text_of(name_node) if name_node is not None else EXPORTS
