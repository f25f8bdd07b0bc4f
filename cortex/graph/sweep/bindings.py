"""Bindings that the sweep reads: names with values, narrowed types, types in comments."""

import msgspec
from tree_sitter import Node

from cortex.graph.facts.captures import Captures
from cortex.graph.facts.declared.jsdoc import read_typedefs, type_above
from cortex.graph.facts.expressions.blocks import BLOCK_ARGUMENT, component_of
from cortex.graph.facts.expressions.chains import (
    LITERAL,
    TYPE_CHARS_MAX,
    UNKNOWN,
    chain_of,
    name_of,
    narrowed_name,
    strip_call,
    text_of,
    type_text,
    union_link,
)
from cortex.graph.facts.expressions.kotlin_values import replace_root
from cortex.graph.facts.expressions.scala_values import for_element_chain, pattern_component
from cortex.graph.facts.facts import ANY_NAME, CONSTANT, POINTER, SPACE, USING, YIELDED, Binding, Member
from cortex.graph.facts.grammars import Syntax
from cortex.graph.facts.repairs.macros import opened_spaces
from cortex.graph.facts.ruby import (
    EVALUATED,
    LISTED,
    add_runner,
    added_values,
    block_self,
    delegate_name,
    end_of_tests,
    runner_of_block,
)
from cortex.graph.sweep import script
from cortex.graph.sweep.frames import branch_end
from cortex.graph.sweep.sweep import Sweep
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: node types of fields that are bound under their plain name
_FIELDS = frozenset({"field_identifier", "property_identifier", "shorthand_field_identifier"})
#: qualifiers of a constant
_CONSTANT = (b"const", b"constexpr")


def bind_all(sweep: Sweep, captures: Captures) -> None:
    for node in captures["bind.name"]:
        if sweep.is_script and script.bind_destructured(sweep, node):
            continue
        if sweep.syntax.is_constant_pattern is not None and sweep.syntax.is_constant_pattern(node):
            continue
        name = _bound_name(sweep, node)
        if name is None:
            continue
        if sweep.syntax.jsdoc and (type_name := type_above(node)):
            sweep.add_binding(name, f":{type_name}"[:TYPE_CHARS_MAX], node)
        elif sweep.is_script and "bind.value" in captures and "bind.type" not in captures:
            script.assign(sweep, name, node, captures["bind.value"][0])
        elif sweep.rules.file_fields and sweep.stack[-1].index < 0 and _is_prepared(name, node):
            sweep.add_binding(name, value_of(captures, sweep.syntax), node, end_of_tests(node))
        else:
            value = _array_type(node, sweep.comments.type_of(node, value_of(captures, sweep.syntax)))
            sweep.add_binding(name, _value_past_parameter(sweep, name, value, node), node)
            if sweep.syntax.pointers and _may_be_pointer(sweep, node, captures):
                sweep.add_binding(POINTER + name, value, node)
            if sweep.syntax.constants:
                bind_constant(sweep, name, node, captures.get("bind.type"))
        if sweep.is_script:
            script.bind_module_export(sweep, name, node)


def _is_prepared(name: str, node: Node) -> bool:
    """Return True for a name that all tests of a group have: `@disk` or `stub_const("Disk", …)` in
    its `before` block.
    """
    return name.startswith("self.") or node.type == "string_content"


def _array_type(name: Node, value: str) -> str:
    """Return the type of C++'s `std::vector<Disk> disks[2]`, whose elements are containers."""
    is_array = value[-1:] == ">" and name.parent is not None and name.parent.type == "array_declarator"
    return f":std::array<{value[1:]}>" if is_array else value


def _may_be_pointer(sweep: Sweep, node: Node, captures: Captures) -> bool:
    declared = captures.get("bind.type")
    if declared is None:
        return True
    is_plain = node.parent is None or node.parent.type not in sweep.syntax.pointers
    return not is_plain and declared[0].type != "primitive_type"


def bind_constant(sweep: Sweep, name: str, node: Node, types: list[Node] | None) -> None:
    """Mark C++'s `const Disk disk` in a function; `const char *text` may change."""
    frame, declaration = sweep.stack[-1], types[0].parent if types else None
    if declaration is None or not (frame.block or frame.kind in CALLABLE_KINDS):
        return
    around = node.parent
    while around is not None and around.type != "pointer_declarator" and around.id != declaration.id:
        around = around.parent
    if around is not None and any(child.text in _CONSTANT for child in around.children if child.is_named):
        sweep.add_binding(CONSTANT + name, UNKNOWN, node)


def bind_copies(sweep: Sweep, function: Node) -> None:
    """Mark the body of C++'s `[=] { … }`: what it copies is constant in it."""
    captured, head = (function.child_by_field_name(field) for field in ("captures", "declarator"))
    names = (
        [name.strip() for name in text_of(captured).strip("[]").split(",")] if captured is not None else []
    )
    is_copied = any(name and name[0] != "&" and name != "this" for name in names)
    if is_copied and (head is None or b"mutable" not in (head.text or b"")):
        sweep.add_binding_between(CONSTANT, UNKNOWN, *function.byte_range)


def _bound_name(sweep: Sweep, node: Node) -> str | None:
    """Return the bound name, or `owner.member`; None for any other node."""
    if node.type in sweep.syntax.names or node.type in _FIELDS:
        name = name_of(node)
        return name[1:] if name.startswith("$") and sweep.stack[-1].kind in TYPE_KINDS else name
    if node.type == "simple_symbol":  # RSpec's `let(:disk) { Disk.new }`
        return text_of(node).lstrip(":")
    if node.type == "string_content":  # RSpec's `stub_const("Disk", Class.new)`
        return text_of(node) if text_of(node).isidentifier() else None
    name = chain_of(node, sweep.syntax)
    if sweep.is_script:
        name = script.binding_name(name)
    return None if name.count(".") != 1 or name[0] in "?#:" or "(" in name or "[" in name else name


def _value_past_parameter(sweep: Sweep, name: str, value: str, node: Node) -> str:
    """Return `value`, with a hidden parameter replaced by its own value.

    A Kotlin property hides the parameter of the same name in its class's constructor, from the
    property on. The parameter's binding ends there.
    """
    frame, around = sweep.stack[-1], node.parent
    if not sweep.rules.hidden_parameters or frame.block or frame.kind not in TYPE_KINDS or around is None:
        return value
    if around.type == "class_parameter":
        sweep.parameter_bindings[frame.index, name] = len(sweep.bindings)
        return value
    at = sweep.parameter_bindings.pop((frame.index, name), None)
    if at is None:
        return value
    hidden = sweep.bindings[at]
    sweep.bindings[at] = msgspec.structs.replace(hidden, until=node.start_byte)
    return replace_root(value, name, hidden.value)


def narrow(sweep: Sweep, captures: Captures) -> None:
    """Bind the narrower type of `if isinstance(x, A):` in the block, or after an assertion."""
    name, types = captures["narrow"][0], text_of(captures["narrow.type"][0])
    if sweep.rules.makes_by_new:
        block, instance = (
            captures["narrow.block"][0],
            f"{chain_of(captures['narrow.type'][0], sweep.syntax)}.new()",
        )
        if block.parent is not None and block.parent.type != "unless":
            sweep.add_binding_between(chain_of(name, sweep.syntax), instance, *block.byte_range)
        return
    if (chain := chain_of(name, sweep.syntax)).count(".") > 1 or chain[:1] in (UNKNOWN, LITERAL, ""):
        return
    alternative = " | ".join(
        type_name.strip() for type_name in types.strip("()").split(",") if type_name.strip()
    )
    blocks, after = captures.get("narrow.block"), captures.get("narrow.after", (name,))[0]
    at, until = blocks[0].byte_range if blocks else (after.end_byte, branch_end(after))
    sweep.add_binding_between(narrowed_name(chain), f":{alternative}"[:TYPE_CHARS_MAX], at, until)


def bind_typedefs(sweep: Sweep, source: str) -> None:
    """Bind the types that JavaScript comments define, unless the file uses the name otherwise."""
    taken = {entry.name for group in (sweep.opened, sweep.imports, sweep.bindings) for entry in group}
    for name, chain in read_typedefs(source).items():
        if name not in taken:
            sweep.bindings.append(Binding(name, chain, -1, 0, 0))


def bind_comment_types(sweep: Sweep, comment: Node) -> None:
    """Bind the variables of PHP's `/** @var Route $one */` from the comment on."""
    for name, type_name in sweep.comments.read(comment).items():
        if name and sweep.stack[-1].kind not in TYPE_KINDS:
            sweep.add_binding(name, f":{type_name}"[:TYPE_CHARS_MAX], comment)


def bind_companion(sweep: Sweep, node: Node) -> None:
    """Bind the name of a Kotlin companion object to its class."""
    called = node.child_by_field_name("name")
    if sweep.stack[-1].kind in TYPE_KINDS:
        class_name = sweep.opened[sweep.stack[-1].index].name
        sweep.add_binding(text_of(called) if called is not None else "Companion", class_name, node)


def bind_macro_spaces(sweep: Sweep, value: Node) -> None:
    """Bind the names of the name spaces that a C++ macro opens."""
    for name in opened_spaces(text_of(value)):
        sweep.bindings.append(Binding(SPACE + name, UNKNOWN, -1, value.start_byte, 0))


def bind_used_name(sweep: Sweep, entry: tuple[str, str, str, bool], node: Node) -> None:
    """Bind a C++ name space to names that it takes, `namespace fs { using namespace disk; }`."""
    _, module, member, _ = entry
    frame = sweep.stack[-1]
    if sweep.rules.name_spaces and frame.index < 0 and frame.qualified and member:
        sweep.bindings.append(Binding(USING + frame.qualified, f"{module}.{member}", -1, node.start_byte, 0))


def bind_tuple_fields(sweep: Sweep, node: Node) -> None:
    """Bind the fields of Rust's `struct Disk(Store, Slot);` by number."""
    for number, type_node in enumerate(node.children_by_field_name("type")):
        sweep.add_binding(str(number), f":{text_of(type_node)}"[:TYPE_CHARS_MAX], node)


def bind_index_signature(sweep: Sweep, node: Node) -> None:
    """Bind TypeScript's `{ [name: string]: Disk }`."""
    sweep.add_binding(ANY_NAME, f":{type_text(node)}", node)


def bind_delegate(sweep: Sweep, node: Node, to: Node) -> None:
    """Define the method of Ruby's `delegate :save, to: :store`, and bind it to the holder's."""
    name, holder = (text_of(symbol).strip("'\":") for symbol in (node, to))
    called = delegate_name(node, holder) if sweep.stack[-1].kind in TYPE_KINDS else ""
    if called:
        line = node.start_point[0] + 1
        sweep.members.append(Member(called, "method", sweep.stack[-1].qualified, line, line))
    for ending in ("", "()") if called else ():  # the holder may be `attr_reader :store` or `def store`
        sweep.add_binding(called, f"self.{holder}{ending}.{name}", node)


def bind_yielded(sweep: Sweep, node: Node) -> None:
    """Bind the first value that a Ruby method passes to its block."""
    if sweep.callable_around(through_blocks=True) is not None:
        chain = chain_of(node, sweep.syntax)
        sweep.bindings.append(Binding(YIELDED, chain, sweep.stack[-1].index, node.start_byte, 0))


def bind_assigned(sweep: Sweep, setter: Node) -> None:
    """Bind the field that Ruby's `self.disk = Disk.new` sets by a setter of `attr_accessor`."""
    name, assignment = setter.child_by_field_name("method"), setter.parent
    value = assignment.child_by_field_name("right") if assignment is not None else None
    if name is not None and (chain := chain_of(value, sweep.syntax)) not in (UNKNOWN, LITERAL):
        sweep.add_binding_between(f"self.@{text_of(name)}", chain, setter.start_byte, 0)


def bind_passed_on(sweep: Sweep, call: Node) -> None:
    """Bind what a Ruby method passes to its block through another: `@disks.each(&block)`."""
    owner = sweep.callable_around(through_blocks=True)
    if owner is not None:
        owner.flags = add_runner(owner.flags, runner_of_block(call, sweep.syntax))
    chain = "self" if text_of(call).startswith("instance_e") else strip_call(chain_of(call, sweep.syntax))
    if chain[:1] not in (UNKNOWN, LITERAL) and owner is not None:
        passed = chain if chain == "self" else chain + BLOCK_ARGUMENT
        sweep.bindings.append(Binding(YIELDED, passed, sweep.stack[-1].index, call.start_byte, 0))


def bind_described(sweep: Sweep, node: Node) -> None:
    """Bind the names that RSpec gives to the class of `describe Disk do … end`, and to an
    instance.
    """
    call = node.parent.parent if node.parent is not None else None
    block = call.child_by_field_name("block") if call is not None else None
    if block is not None:
        chain = chain_of(node, sweep.syntax)
        sweep.add_binding_between("described_class", chain, *block.byte_range)
        sweep.add_binding_between("subject", f"{chain}.new()", *block.byte_range)


def bind_element(sweep: Sweep, container: Node) -> None:
    """Bind a Ruby variable to a list of what is added to it: `@disks << disk`, `disks[at] = disk`;
    a local one only after `disks = []`.
    """
    chains, name = [chain_of(value, sweep.syntax) for value in added_values(container)], name_of(container)
    if not {UNKNOWN, LITERAL}.isdisjoint(chains) or sweep.stack[-1].kind in TYPE_KINDS:
        return
    scope = sweep.stack[-1].index
    if not name.startswith("self."):
        before = (b.value for b in reversed(sweep.bindings) if b.name == name and b.scope == scope)
        if (listed := next(before, UNKNOWN)) != LITERAL:
            if not listed.endswith(LISTED):
                return
            chains.insert(0, listed.removesuffix(LISTED))
    chain = union_link(chains)
    until = end_of_tests(container) if scope < 0 else 0
    sweep.add_binding_between(name, chain + LISTED, container.start_byte, until)


def bind_evaluated(sweep: Sweep, block: Node) -> None:
    """Bind what may be `self` in a Ruby block without parameters, `Menu.new do … end`: the
    receiver of the call, or rather what it returns.
    """
    call = block.parent
    receiver = call.child_by_field_name("receiver") if call is not None else None
    for node in (receiver, call):
        sweep.add_binding_between(EVALUATED, chain_of(node, sweep.syntax), *block.byte_range)


def bind_block_self(sweep: Sweep, call: Node) -> None:
    """Bind what is `self` in the block of a call by the method that gets it: `menu do … end`."""
    block = call.child_by_field_name("block")
    if block is not None and (chain := block_self(call, sweep.syntax)):
        sweep.add_binding_between(EVALUATED, chain, *block.byte_range)


def value_of(captures: Captures, syntax: Syntax) -> str:
    """Return the chain or declared type that `@bind.name` gets."""
    if types := captures.get("bind.type"):
        return ":" + type_text(types[0])
    if values := captures.get("bind.value"):
        for read in syntax.value_types:
            if type_name := read(values[0]):
                return f":{type_name}"
        return chain_of(values[0], syntax)
    if items := captures.get("bind.item"):
        return chain_of(items[0], syntax) + syntax.item
    if instances := captures.get("bind.made"):
        return f"{chain_of(instances[0], syntax)}()"
    if iterables := captures.get("bind.each"):  # Scala's `for (one <- all)`
        return for_element_chain(chain_of(iterables[0], syntax))
    name = captures["bind.name"][0]
    if parts := captures.get("bind.part"):  # Kotlin's `val (a, b) = x`
        return component_of(name, chain_of(parts[0], syntax))
    if patterns := captures.get("bind.whole"):  # Scala's `case Disk(store) =>`
        return pattern_component(name, patterns[0])
    return syntax.value_of_name(name, syntax) if syntax.value_of_name is not None else UNKNOWN
