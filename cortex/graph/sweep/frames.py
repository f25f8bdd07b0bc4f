"""State of the sweep: open definitions, frames, and branches of tests."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from cortex.graph.facts.declared.comments import NO_DOC, DocComment
from cortex.graph.facts.expressions.chains import LITERAL, TYPE_CHARS_MAX, UNKNOWN, union_link
from cortex.graph.facts.facts import Base, Definition, Parameter

#: nested patterns in which a name may be
PATTERNS_MAX = 3
#: statements that test a name for the rest of a branch
_TESTS = frozenset({"if_statement", "if_expression", "assert_statement"})

#: nodes around a definition that belong to it
_AROUND = frozenset(
    "decorated_definition export_statement lexical_declaration type_declaration "
    "ambient_declaration template_declaration expression_statement".split()
)


@dataclass(slots=True)
class OpenDefinition:
    """A definition that the sweep is in."""

    name: str
    kind: str
    scope: str
    parent: int
    node: Node
    name_node: Node
    bases: list[Base] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    returns: str = ""
    inferred: list[str] = field(default_factory=list)
    flags: tuple[str, ...] = ()
    doc: DocComment = NO_DOC
    #: range in which its name is valid (facts.py)
    since: int = 0
    until: int = 0
    #: of a method that only a comment declares: its line, from the comment's first
    below: int | None = None

    def finish(self, flags: tuple[str, ...]) -> Definition:
        """Return the definition; call it when the sweep has read all of its contents."""
        node = decorated_node(self.node)
        line = self.name_node.start_point[0] + 1 + (self.below or 0)
        first, last = node.start_point[0] + 1, node.end_point[0] + (node.end_point[1] > 0)
        if self.below is not None:
            first = last = line
        inferred = [chain for chain in self.inferred if chain not in (UNKNOWN, LITERAL)]
        declared = f":{type_name}"[:TYPE_CHARS_MAX] if (type_name := self.doc.result("")) else ""
        return Definition(
            self.name,
            self.kind,
            self.scope,
            self.parent,
            first,
            max(first, last),
            line,
            self.name_node.start_point[1],
            node.start_byte,
            node.end_byte,
            tuple(self.bases),
            tuple(self.parameters),
            self.returns or declared or (union_link(inferred) if inferred else ""),
            flags,
            self.since,
            self.until,
        )


@dataclass(slots=True)
class Frame:
    """A definition or a block that the sweep is in; `index` is that of the definition around it."""

    begin: int
    end: int
    index: int
    qualified: str
    kind: str
    block: bool
    node: Node | None = None
    #: true for the block of an unnamed function
    function: bool = False
    #: type parameter → its bound
    bounds: dict[str, str] = field(default_factory=dict)
    #: associated type of Rust's `impl`, `Self::Item` → the type
    associated: dict[str, str] = field(default_factory=dict)
    #: of a Ruby type: its methods, and whether each is of the class itself; None until one asks
    methods: frozenset[tuple[str, bool]] | None = None


def name_span(node: Node, stack: Sequence[Frame]) -> tuple[int, int]:
    """Return the byte range in which the name of a script's definition in a block is valid.

    (0, 0) if that is a whole scope: `var` and functions belong to the function around them.
    """
    hoisted = node.type.startswith(("function", "generator_function")) or (
        node.parent is not None and node.parent.type == "variable_declaration"
    )
    for frame in reversed(stack):
        if not frame.block:
            break
        if frame.function or not hoisted:
            return frame.begin, frame.end
    return 0, 0


def branch_end(test: Node) -> int:
    """Return the byte at which the branch around a test ends, 0 for none; the test holds up to
    there.

    Not all languages have block scopes, but a return in one branch says nothing about the next.
    """
    node: Node | None = test
    while node is not None and node.type not in _TESTS:
        node = node.parent
    around = node.parent if node is not None else None
    while around is not None and around.parent is not None and around.parent.type == "with_statement":
        around = around.parent.parent
    return around.end_byte if around is not None else 0


def decorated_node(node: Node) -> Node:
    """Return the node of a definition with its decorators and `export`."""
    while node.parent is not None and node.parent.type in _AROUND:
        node = node.parent
    return node


#: what Kotlin's property declares: one name, or several
_DECLARED = frozenset({"variable_declaration", "multi_variable_declaration"})


def bound_from(name: Node) -> int:
    """The byte from which a name is bound: in Rust's `let store = store(1);` and in Kotlin's
    `val store = store(1)` after the value.
    """
    node: Node | None = name.parent
    for _ in range(PATTERNS_MAX):
        if node is None:
            break
        if node.type == "let_declaration":
            value = node.child_by_field_name("value")
            is_inside = value is not None and value.start_byte <= name.start_byte  # a closure's parameter
            return name.start_byte if is_inside else node.end_byte
        if node.type in _DECLARED and node.parent is not None and node.parent.type == "property_declaration":
            return node.parent.end_byte
        node = node.parent
    return name.start_byte


def is_in_impl(item: Node) -> bool:
    """True if a Rust item is a member of an `impl`."""
    around = item.parent.parent if item.parent is not None else None
    return around is not None and around.type == "impl_item"


def head_type(name: Node) -> Node:
    """Return `List` of Rust's `impl List<T>`: a type itself, whatever other generics hold."""
    head = name.child_by_field_name("type") if name.type == "generic_type" else None
    return name if head is None or head.type != "type_identifier" else head
