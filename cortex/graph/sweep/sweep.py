"""State of the sweep over one file: the facts so far, and the open frames. The other modules of
this folder read the captures.
"""

import itertools

from tree_sitter import Node

from cortex.graph.facts.declared.comments import Comments
from cortex.graph.facts.declared.jsdoc import doc_above
from cortex.graph.facts.expressions.arguments import CallArguments
from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN
from cortex.graph.facts.facts import Base, Binding, Definition, Extension, Facts, Import, Member, Reference
from cortex.graph.facts.grammars import Grammar
from cortex.graph.facts.imports import enclosing_module, is_rare, path_from_file
from cortex.graph.facts.ruby import is_shared
from cortex.graph.sweep.frames import Frame, OpenDefinition, bound_from, name_span
from cortex.terms.kinds import CALLABLE_KINDS

#: last links of a chain that name nothing
_NOTHING = frozenset({UNKNOWN, LITERAL, ""})
_NOTHING_ENDS = _NOTHING | {"."}
_NO_ARGUMENTS = CallArguments()
_END = 1 << 60


class Sweep:
    def __init__(self, path: str, grammar: Grammar) -> None:
        self.path, self.grammar = path, grammar
        self.language = grammar.name
        self.syntax = grammar.syntax
        self.rules = grammar.rules
        self.is_script = self.rules.scripts
        self.stack: list[Frame] = [Frame(0, _END, -1, "", "", block=False)]
        self.opened: list[OpenDefinition] = []
        self.references: list[Reference] = []
        self.bindings: list[Binding] = []
        self.imports: list[Import] = []
        self.exports: dict[str, str] = {}
        self.extensions: list[Extension] = []
        self.members: list[Member] = []
        self.package, self.package_bytes = "", 0
        self.comments = Comments()
        #: (type, other name, name, byte, whether of the class itself) of methods with another name
        self.aliases: list[tuple[int, str, str, int, bool]] = []
        #: traits that Rust derives for the next type
        self.derived: list[Base] = []
        #: methods that only comments declare
        self.comment_methods: list[OpenDefinition] = []
        #: in scripts: qualified name → flag of a definition that got members
        self.holders: dict[str, str] = {}
        #: in scripts: bytes of a function or class within a larger value → the assignment or
        #: default export around it
        self.wrapped: dict[tuple[int, int], Node] = {}
        #: bytes of Kotlin's calls with a block behind them: `f(1) { … }`
        self.with_blocks: set[tuple[int, int]] = set()
        #: name → definition of a macro
        self.macros: dict[str, Node] = {}
        #: Kotlin's constructor parameters: (type, name) → index of the binding
        self.parameter_bindings: dict[tuple[int, str], int] = {}

    def facts(self, sha256: str, lines: int, definitions: tuple[Definition, ...], builds: str) -> Facts:
        return Facts(
            self.path,
            self.language,
            sha256,
            self.package,
            lines,
            definitions,
            tuple(self.references),
            tuple(self.bindings),
            tuple(self.imports),
            self.exports,
            tuple(self.extensions),
            builds,
            members=tuple(self.members),
        )

    def enter(self, definition: OpenDefinition) -> None:
        """Open a definition: the sweep is inside it up to its end."""
        qualified = f"{definition.scope}.{definition.name}" if definition.scope else definition.name
        begin, end = definition.node.start_byte, definition.node.end_byte
        if self.derived:
            definition.bases += self.derived
            self.derived = []
        if self.syntax.jsdoc and definition.kind in CALLABLE_KINDS:
            definition.doc = doc_above(definition.node)
        self.stack.append(
            Frame(
                begin,
                end,
                self.keep(definition),
                qualified,
                definition.kind,
                block=False,
                node=definition.node,
            )
        )

    def keep(self, definition: OpenDefinition) -> int:
        """Add a definition without contents; return its index."""
        frame = self.stack[-1]
        if self.is_script and frame.block:
            definition.since, definition.until = name_span(definition.node, self.stack)
        elif (
            self.rules.file_fields and frame.block and frame.index < 0 and not is_shared(definition.node)
        ):  # Ruby's, in a test's block
            definition.since, definition.until = frame.begin, frame.end
        self.opened.append(definition)
        return len(self.opened) - 1

    def callable_around(self, *, through_blocks: bool = False) -> OpenDefinition | None:
        """Return the function that the sweep is in; None in a block with parameters, such as a
        lambda.
        """
        frame = self.stack[-1]
        if frame.index < 0:
            return None
        if frame.block and not (through_blocks and self._is_direct()):
            return None
        owner = self.opened[frame.index]
        return owner if owner.kind in CALLABLE_KINDS else None

    def _is_direct(self) -> bool:
        """True if no unnamed function is between the sweep and the definition around it."""
        blocks = itertools.takewhile(lambda frame: frame.block, reversed(self.stack))
        return not any(frame.function for frame in blocks)

    def add_binding(self, name: str, value: str, node: Node, until: int = 0) -> None:
        """Bind a name from `node` to the end of the block, or to byte `until`."""
        frame = self.stack[-1]
        owner = self.opened[frame.index] if frame.index >= 0 else None
        if owner is not None and owner.name_node.start_byte == node.start_byte:
            return  # `const f = () => …`: the function itself
        until = until or (frame.end if frame.block else 0)
        is_local = frame.block or frame.kind in CALLABLE_KINDS
        # A comprehension's variable is bound after the expression that uses it.
        at = (
            frame.begin
            if frame.block and self.syntax.hoisted
            else (bound_from(node) if self.rules.bound_after_value and is_local else node.start_byte)
        )
        if frame.kind == "container" and self.rules.extended_fields and frame.qualified:
            name = f"{frame.qualified}.{name}"  # Swift's `extension Disk { static let first = Disk() }`
        self.add_binding_between(name, value, at, until)

    def add_binding_between(self, name: str, value: str, at: int, until: int) -> None:
        """Bind a name between two bytes of the current scope."""
        if value[:1] == ":" and self.syntax.all_of:
            value = value.replace(self.syntax.all_of, "+")
        self.bindings.append(Binding(name, value, self.stack[-1].index, at, until))

    def add_reference(
        self, kind: str, chain: str, node: Node, arguments: CallArguments = _NO_ARGUMENTS
    ) -> None:
        if chain[-1:] in _NOTHING_ENDS and chain.rpartition(".")[2] in _NOTHING:
            return
        row, column = node.start_point
        self.references.append(
            Reference(kind, chain, self.stack[-1].index, row + 1, column, node.start_byte, *arguments)
        )

    def add_import(self, entry: tuple[str, str, str, bool], node: Node) -> None:
        name, module, member, exported = entry
        scope, inside = self.stack[-1].index, ""
        rare = self.rules.inner_modules and is_rare(node)
        if self.rules.inner_modules and (inside := enclosing_module(node)):
            module = path_from_file(module, inside)
        self.imports.append(
            Import(
                name, module, member, scope, node.start_point[0] + 1, node.start_byte, exported, inside, rare
            )
        )
