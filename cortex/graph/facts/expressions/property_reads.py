"""Names that may read or assign a property: `disk.size`, and bare ones in the property's file.

A search in the text, because a walk over the tree costs a tenth of the extraction. Resolution finds
the properties among them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from tree_sitter import Node

from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of, text_of
from cortex.graph.facts.expressions.function_values import PLAIN, FileNames, Scopes
from cortex.graph.facts.facts import ACCESSOR, PROPERTY, READ, RUNNING, UNCALLED, WRITTEN, Facts, Reference
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.terms.kinds import TYPE_KINDS

#: a member that is not called
_MEMBER = re.compile(rb"\.\s?([A-Za-z_]\w*)(?![\w(])")
#: the begin of a name that is no operator, which Scala's methods may have
_WORD = re.compile(r"\w")
#: an assignment behind a name; of several kinds those that read the name, too
_ASSIGNED = re.compile(rb"\s*(?:(=)(?![=>~])|(?:[-+*/%&|^]|\*\*|//|<<|>>|\?\?|&&|\|\|)=(?!=)|\+\+|--)")
#: a receiver that is the instance itself
_ITSELF = re.compile(rb"(?<![\w.])(?:self|this)$")
#: flags of methods that run where they are named
PROPERTY_FLAGS = frozenset({"property", "cached_property", "setter", ACCESSOR, UNCALLED})
#: fields of nodes in which a name declares, labels or names a type
_NOT_READ = ("name", "type", "label", "returns")
#: nodes in which a bare name declares, or is a label or a type; in the second kind if assigned
_LABELS = frozenset(
    {"subpattern", "name_colon", "value_argument_label", "type_argument_list", "variable_declaration"}
)
_LABELLED = frozenset({"anonymous_object_creation_expression", "initializer_expression"})


def with_property_reads(
    root: Node, facts: Facts, spans: Sequence[tuple[int, int]], rules: Rules, syntax: Syntax
) -> Facts:
    """Return the facts with the references of kind PROPERTY, and RUNNING accessors marked. `spans`
    as in `with_values`.
    """
    properties = {
        definition.name.strip(ACCESSOR): definition.line
        for definition in facts.definitions
        if not PROPERTY_FLAGS.isdisjoint(definition.flags)
    }
    reads = tuple(_property_references(root, facts, properties, Scopes(spans), (rules, syntax)))
    definitions = facts.definitions
    if properties:
        names = {prefix + name for name in properties for prefix in ("", "self.", "this.")}
        uses = (use for use in (*facts.references, *reads) if use.kind not in ("type", "given"))
        running = {use.scope for use in uses if use.kind == "call" or use.chain in names}
        definitions = tuple(
            msgspec.structs.replace(definition, flags=(*definition.flags, RUNNING))
            if at in running and not PROPERTY_FLAGS.isdisjoint(definition.flags)
            else definition
            for at, definition in enumerate(definitions)
        )
    return msgspec.structs.replace(facts, definitions=definitions, references=(*facts.references, *reads))


def _property_references(
    root: Node, facts: Facts, properties: Mapping[str, int], scopes: Scopes, grammar: tuple[Rules, Syntax]
) -> Iterator[Reference]:
    """Yield the references of kind PROPERTY of a file; `properties`: its own, name → line."""
    text, (rules, syntax) = bytes(root.start_byte) + (root.text or b""), grammar
    taken = {
        reference.at + reference.chain.rfind(".") + 1
        for reference in facts.references
        if reference.kind == "value"  # of a name, a value is a use as well
    }
    own_names = {
        name.encode(): line
        for name, line in properties.items()
        if _WORD.match(name) and name not in syntax.names
    }
    # Of a property that is named like its type nothing tells the two apart.
    unclear = {binding.name.encode() for binding in facts.bindings if binding.value == f":{binding.name}"}
    types = {at for at, definition in enumerate(facts.definitions) if definition.kind in TYPE_KINDS}
    fields = {
        binding.name.rpartition(".")[2].encode()
        for binding in facts.bindings
        if binding.scope in types or "." in binding.name
    } - own_names.keys()
    places = [
        (match.start(1), match.end(1), True)
        for match in _MEMBER.finditer(text)
        if match[1] not in fields or not _ITSELF.search(text, max(0, match.start() - 5), match.start())
    ]
    if own_names.keys() - unclear and rules.implicit_self:
        words = b"|".join(map(re.escape, sorted(own_names.keys() - unclear)))
        names = re.compile(rb"(?<![\w.])(?:" + words + rb")(?![\w(])")
        places = sorted([*places, *((match.start(), match.end(), False) for match in names.finditer(text))])
        file = FileNames(facts, rules)
    for start, end, is_member in places:
        if start in taken:
            continue
        node = root.descendant_for_byte_range(start, end)
        if node is None or node.type not in syntax.names or node.end_byte != end:
            continue
        scope = scopes.around(start)
        assigned = _ASSIGNED.match(text, end)
        if is_member:
            chain = _member_chain(node, syntax)
        else:
            line = own_names[text[start:end]]
            chain = _bare_chain(node, file, scope, line, is_assigned=assigned is not None)
        if not chain:
            continue
        use = READ if assigned is None else WRITTEN if assigned[1] else READ | WRITTEN
        row, column = node.start_point
        yield Reference(PROPERTY, chain, scope, row + 1, column, start, types=use)


def _member_chain(name: Node, syntax: Syntax) -> str:
    """Return the chain of a member by its name; "" for one whose receiver has no type."""
    member = name.parent
    if member is not None and member.type in syntax.wraps:
        member = member.parent
    if member is None or member.type not in syntax.members or member.type == "qualified_name":
        return ""
    text = member.text or b""
    if PLAIN.fullmatch(text):  # the usual case
        return text.decode("utf-8", "replace")
    chain = chain_of(member, syntax)
    receiver = chain.rpartition(".")[0]
    return "" if not receiver or receiver[0] == ":" or receiver[-1] in (UNKNOWN, LITERAL) else chain


def _bare_chain(node: Node, file: FileNames, scope: int, line: int, *, is_assigned: bool) -> str:
    """A name, "" if it is a variable, a label, a type, or the property's own name at `line`."""
    around, name = node.parent, text_of(node)
    if around is None or around.type in _LABELS or node.start_point[0] + 1 == line:
        return ""
    if any(around.child_by_field_name(place) == node for place in _NOT_READ):
        return ""
    if around.type == "assignment_expression" and around.child_by_field_name("left") == node:
        around = around.parent
    if around is not None and around.type in _LABELLED and is_assigned:
        return ""
    return "" if file.is_variable(name, scope, node.start_byte) else name
