"""Syntax tree → Facts: one query over the tree, then one sweep over its captures (captures.py) in
the order of the text.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import msgspec
from tree_sitter import Node, Tree

from cortex.graph.facts.arguments import Given, declared_type, given_to, literal_type
from cortex.graph.facts.blocks import BLOCKS, IT, has_parameters, known_in, parameter_of, part_of
from cortex.graph.facts.builds import builds_of
from cortex.graph.facts.captures import Captures, events, query_of
from cortex.graph.facts.chains import (
    LITERAL,
    TYPE_CHARS_MAX,
    UNKNOWN,
    chain_of,
    child_of,
    dotted,
    infix_of,
    last_of,
    name_of,
    narrowed,
    parts_of,
    required,
    text_of,
    type_text,
    uncovered,
)
from cortex.graph.facts.comments import Comments, comment_above, told_of
from cortex.graph.facts.contexts import given
from cortex.graph.facts.delegates import delegate_name
from cortex.graph.facts.facts import (
    ALIAS,
    ANY_NAME,
    CALLED,
    MADE,
    MAKER,
    PACKAGE,
    SPECIALIZED,
    TESTED,
    YIELDING,
    Base,
    Binding,
    Definition,
    Extension,
    Facts,
    Import,
    Parameter,
    Reference,
)
from cortex.graph.facts.flags import fixture_name, flags_of, kotlin_flags, platform_flags
from cortex.graph.facts.frames import Frame, Open, bound_from, end_around, headed, is_in_impl
from cortex.graph.facts.generics import (
    GENERIC_LANGUAGES,
    NAMED_PARAMETERS,
    arguments_text,
    made_with,
    parameters_flag,
)
from cortex.graph.facts.grammars import RULES, SYNTAX, Syntax
from cortex.graph.facts.imports import READERS, Imported, is_outweighed, is_rare, module_around, within
from cortex.graph.facts.jsdoc import names_of_types, told_above, type_above
from cortex.graph.facts.kotlin_values import KOTLIN_TEXTS, parameters_of_class, with_root
from cortex.graph.facts.links import module_of
from cortex.graph.facts.macros import calls, mocked, tested
from cortex.graph.facts.mentions import mentions
from cortex.graph.facts.results import SEVERAL, types_of
from cortex.graph.facts.scala_values import (
    given_in_for,
    given_to_parameter,
    is_constant_pattern,
    parameters_of_scala,
    part_of_pattern,
    scala_flags,
)
from cortex.graph.facts.script_sweep import ScriptSweep
from cortex.graph.facts.scripts import FUNCTIONS, WHOLE, is_part, type_by_name
from cortex.graph.facts.swift_types import extended_type
from cortex.graph.facts.tokens import chain_of_tokens
from cortex.graph.facts.types import ITSELF, alternatives, names_in
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: Scala's calls of types, which may share their name with a function
_MAKE_ONE = frozenset({"instance_expression", "case_class_pattern", "extends_clause"})
_COVERS = frozenset({"parenthesized_expression", "await_expression"})
#: last links of a chain that name nothing
_NOTHING = frozenset({UNKNOWN, LITERAL, ""})
#: ends the chain of what a call or an element gives
_GIVEN = re.compile(r"(?:[\])]|\)<[^<>]*>)$")
_CALLED = re.compile(r"\(_?\d*\)$")
_NOTHING_GIVEN = Given()
#: ends the names of C#'s attributes, which are written without it
_ATTRIBUTE = "Attribute"
_END = 1 << 60
#: of a script's functions those that others have the name of, `const f = () => { … }`
_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function"})
#: what Ruby calls of a module that is included
_INCLUDED = "included"
#: names of fields that are bound as they stand
_FIELDS = frozenset({"field_identifier", "property_identifier", "shorthand_field_identifier"})


def extract(tree: Tree, path: str, language: str, sha256: str) -> Facts:
    """The facts of a parsed file in a language that has a row in grammars.py."""
    return _Sweep(path, language, SYNTAX[language]).run(tree, sha256)


class _Sweep:
    def __init__(self, path: str, language: str, syntax: Syntax) -> None:
        self.path = path
        self.language = language
        self.syntax = syntax
        self.rules = RULES[language]
        self.opened: list[Open] = []
        self.references: list[Reference] = []
        self.bindings: list[Binding] = []
        self.imports: list[Import] = []
        self.exports: dict[str, str] = {}
        self.extensions: list[Extension] = []
        self.package, self.package_bytes = "", 0
        self.stack: list[Frame] = [Frame(0, _END, -1, "", "", block=False)]
        self.script = ScriptSweep(self) if self.rules.family == "script" else None
        self.comments = Comments()
        #: Kotlin's parameters of constructors: (type, name) → the number of the binding
        self.given: dict[tuple[int, str], int] = {}
        #: methods that only comments name
        self.told: list[Open] = []

    def run(self, tree: Tree, sha256: str) -> Facts:
        root = tree.root_node
        stack, take = self.stack, self._take
        for start, _, _, what, captures in events(root, query_of(tree.language, self.syntax.queries)):
            while stack[-1].end <= start:
                stack.pop()
            take(what, captures[what][0], captures)
        if self.language == "javascript":
            self._name_types(text_of(root))
        facts = Facts(
            self.path,
            self.language,
            sha256,
            self.package,
            root.end_point[0] + 1,
            self._definitions(),
            tuple(self.references),
            tuple(self.bindings),
            tuple(self.imports),
            self.exports,
            tuple(self.extensions),
            builds_of(root, self.path) if self.language == "go" else "",
        )
        values = mentions(tree, facts, [one.node.byte_range for one in self.opened])
        return msgspec.structs.replace(facts, references=(*facts.references, *values))

    def _take(self, what: str, node: Node, captures: Captures) -> None:
        group, _, kind = what.partition(".")
        match group:
            case "def" | "container":
                self._define(kind or group, node, captures)
            case "block":
                self._block(node)
            case "call":
                self._call(node, captures["callee"][0])
            case "type":
                self._type(node)
            case "bind" if kind == "name":
                self._bind(captures)
            case "param":
                self._parameter(captures)
            case "base":
                self._base(kind, node)
            case "narrow":
                self._narrow(captures)
            case "bound":
                self._bound(text_of(node), text_of(captures["bound.type"][0]))
            case "return":
                self._return(node)
            case "import":
                self._import(node)
            case _:
                self._take_rare(what, node, captures)

    def _take_rare(self, what: str, node: Node, captures: Captures) -> None:
        """What few languages have, or few files have often."""
        if what == "returns":
            if (owner := self._callable()) is not None and not owner.returns:
                text = types_of(node) if self.language == "go" else text_of(node)
                for name, said in self.stack[-2].associated.items() if "Self::" in text else ():
                    text = text.replace(name, said)
                owner.returns = ":" + owner.told.result(text).lstrip(": ")[:TYPE_CHARS_MAX]
        elif what == "aliased":  # Kotlin's `typealias Maker = Store.() -> Disk`
            if self.language == "kotlin" or any(one.endswith("*") for one in alternatives(text_of(node))):
                self.opened[-1].returns = f":{text_of(node)}"[:TYPE_CHARS_MAX]  # C++'s of containers
        elif what == "companion":  # Kotlin's own name of what the class's name means as well
            called = node.child_by_field_name("name")
            if self.stack[-1].kind in TYPE_KINDS:
                whole = self.opened[self.stack[-1].index].name
                self.add_binding(text_of(called) if called is not None else "Companion", whole, node)
        elif what == "itself":  # Scala's `self =>`
            self.add_binding(text_of(node), "this", node)
        elif what == "macro.body":
            self._macro(node)
        elif what == "tokens":
            self._refer("call", chain_of_tokens(node, captures["group"][0]), node)
        elif what == "delegated":
            self._delegated(node, captures["delegated.to"][0])
        elif what == "fields":  # Rust's `struct Disk(Store, Slot);`
            for number, one in enumerate(node.children_by_field_name("type")):
                self.add_binding(str(number), f":{text_of(one)}"[:TYPE_CHARS_MAX], node)
        elif what == "told":
            self._told(node)
        elif what == "by_name":  # TypeScript's `{ [name: string]: Disk }`
            self.add_binding(ANY_NAME, f":{type_text(node)}", node)
        elif what == "jsx":
            if (name := chain_of(node, self.syntax))[:1].isupper() or "." in name:
                self._refer("call", name, node)
        elif what == "package" and self.language == "scala" and self.package:
            around = node.parent
            if around is not None and around.child_by_field_name("body") is None:  # one after the other
                self.package += f".{text_of(node).strip()}"
        elif what == "package":
            around = node.parent if self.language == "csharp" else None
            size = around.end_byte - around.start_byte if around is not None else 0
            if around is not None and is_outweighed(around):  # C#'s file is of none
                return
            if not self.package or size > self.package_bytes:  # of C#'s several the one that holds most
                self.package, self.package_bytes = text_of(node).strip().replace("\\", "."), size

    def _return(self, value: Node) -> None:
        frame = self.stack[-1]
        if frame.node is not None and frame.node.byte_range == value.byte_range:
            if frame.kind != "container":
                self._return_own(self.opened[frame.index])
            return
        owner = self._callable(through_blocks=True)
        yields = value.parent is not None and value.parent.type == "yield"
        if owner is not None and (not yields or YIELDING.intersection(owner.flags)):
            owner.inferred.append(chain_of(value, self.syntax))

    def _return_own(self, one: Open) -> None:
        """`return function load() {…}`: the function around it gives that one."""
        outer = self.opened[one.parent] if one.parent >= 0 else None
        if outer is not None and outer.kind in CALLABLE_KINDS:
            outer.inferred.append(one.name)

    def _define(self, kind: str, node: Node, captures: Captures) -> None:
        if self.script is not None and kind in ("assigned", "member", "container"):
            self.script.define(kind, node, captures)
            return
        name_node = captures["name"][0]
        name = text_of(name_node).strip("\"'`")
        frame = self.stack[-1]
        if kind == "part":  # TypeScript's `A & { save: () => void }`
            if not is_part(node):
                return
            kind = "method" if node.type == "property_signature" else "called"
        if kind == "called":  # TypeScript's `{ (x: number): Disk }`
            if frame.block or frame.kind not in TYPE_KINDS:
                return
            kind, name = "method", CALLED
        if name_node.type == "operator_name":
            name = "".join(name.split())
        if kind == "computed":  # Swift's `var size: Int { … }`, in a type a field
            if frame.kind != "container":
                return
            kind = "method"
        declared = kind == "declared"
        if node.type == "type_item" and is_in_impl(node):  # Rust's `type Err = Error;`
            said = node.child_by_field_name("type")
            frame.associated[f"Self::{name}"] = text_of(said) if said is not None else name
            return
        if declared:
            kind = "method" if frame.kind in TYPE_KINDS else "function"
        if kind == "container":
            if "::" in name and name_node.type == "nested_namespace_specifier":
                name = name.replace("::", ".")
            target = alternatives(text_of(headed(name_node)))
            qualified = target[0].rstrip("*") if target and "." not in name else name
            if self.language == "swift":
                qualified = extended_type(name_node) or qualified
            qualified = f"{frame.qualified}.{qualified}" if frame.qualified else qualified
            self.stack.append(
                Frame(node.start_byte, node.end_byte, frame.index, qualified, "container", block=False)
            )
            return
        if kind == "constant":
            if (
                frame.index < 0
                and self._is_constant(name)
                and not (self.script and self.script.requires(name_node))
            ):
                self.keep(Open(name, kind, "", -1, node, name_node))
            return
        scope, parent = frame.qualified, frame.index
        if kind == "packaged":  # Scala's `package object shop`
            kind, scope, name = "class", f"{scope}.{name}".lstrip("."), PACKAGE
        if kind == "macro":  # known from there on in every file that reads this one
            kind, scope, parent = "function", "", -1
            frame, name = self.stack[0], name + "!" * (self.language == "rust")
        if frame.kind == "container":
            parent = -1
        if owners := captures.get("owner"):
            target = alternatives(text_of(owners[0]))
            scope, parent = (target[0].rstrip("*") if target else text_of(owners[0])), -1
        if name_node.type == "qualified_identifier":  # C++: void ns::Type::method()
            outer, _, name = chain_of(name_node, self.syntax).rpartition(".")
            name = "".join(text_of(name_node).rpartition("::")[2].split()) if name == UNKNOWN else name
            first, dot, _ = outer.partition(".")
            if dot and first == scope.partition(".")[0]:  # its whole name, in a name space of its own
                scope = ""
            scope, parent, owners = (f"{scope}.{outer}" if scope else outer), -1, [name_node]
        flags: tuple[str, ...] = ()
        if self.language == "cpp" and (test := tested(node, name)):
            outer, name = test
            scope, parent, owners = (f"{scope}.{outer}" if scope else outer), -1, [name_node]
            flags = (TESTED,)
        in_type = bool(owners) or frame.kind in TYPE_KINDS
        in_type = in_type or (frame.kind == "container" and self.language != "cpp")  # no name space
        returns = ":Self" if kind == "variant" else ""
        if held := captures.get("computed.type"):
            returns = f":{type_text(held[0])}"
        if kind == "variant":  # Rust's `Shape::Circle(1)` is a call of a function
            kind = "function"
        elif kind == "function" and in_type:
            kind = "method"
        flags = (*flags, *flags_of(node), *("declared",) * declared)
        if "fixture" in flags and (asked := fixture_name(node)):
            self.exports[asked] = name
        if name_node.parent is not None and name_node.parent.type == "template_type":
            flags = (*flags, SPECIALIZED)
        if self.language == "kotlin" and node.type == "function_declaration":
            flags = (*flags, *kotlin_flags(node, owners[0] if owners else None, scope))
        elif self.language == "kotlin":
            flags = (*flags, *platform_flags(node))
        if self.language == "scala":
            flags = (*flags, *scala_flags(node))
        if self.language in NAMED_PARAMETERS:
            flags = (*flags, *parameters_flag(node))
        self.enter(Open(name, kind, scope, parent, node, name_node, returns=returns, flags=flags))
        if node.type == "class_declaration" and self.language == "kotlin":
            self.opened[-1].parameters += parameters_of_class(node)
        elif node.type == "class_definition" and self.language == "scala":
            self.opened[-1].parameters += parameters_of_scala(node)
        if self.language == "php":
            self._documented(node)
        if frame.kind == "container" or frame.kind in TYPE_KINDS:
            for parameter, bound in frame.bounds.items():
                self._bound(parameter, bound)

    def _documented(self, node: Node) -> None:
        """What PHP's comment above a definition says of it."""
        one = self.opened[-1]
        outer = self.opened[one.parent].told.bounds if one.parent >= 0 else {}
        one.told = told = told_of(node, outer)
        one.flags += (MAKER,) * told.makes
        if self.stack[-1].kind not in TYPE_KINDS:
            return
        for name, said in told.properties.items():
            self.add_binding(name.lstrip("$"), f":{said}"[:TYPE_CHARS_MAX], node)
        above = comment_above(node) or node
        row = above.start_point[0] + 1
        for mixin in told.mixins:
            one.bases.append(Base(ALIAS, dotted(mixin.name), row + mixin.line, 0))
        for method in told.methods:
            returns = f":{method.type}"[:TYPE_CHARS_MAX] if method.type else ""
            opened = Open(method.name, "method", self.stack[-1].qualified, self.stack[-1].index, above, above)
            self.told.append(replace(opened, returns=returns, flags=("declared",), below=method.line))

    def enter(self, one: Open) -> None:
        """Open a definition; what follows up to its end is in it."""
        qualified = f"{one.scope}.{one.name}" if one.scope else one.name
        begin, end = one.node.start_byte, one.node.end_byte
        if self.language == "javascript" and one.kind in CALLABLE_KINDS:
            one.told = told_above(one.node)
        self.stack.append(Frame(begin, end, self.keep(one), qualified, one.kind, block=False, node=one.node))

    def keep(self, one: Open) -> int:
        if self.script is not None and self.stack[-1].block:
            one.since, one.until = self.script.holds(one.node)
        self.opened.append(one)
        return len(self.opened) - 1

    def _is_constant(self, name: str) -> bool:
        return self.language != "python" or (name.isupper() and len(name) > 1)

    def _block(self, node: Node) -> None:
        """A block; not one that is the body of the definition that the sweep has just entered
        (`const f = () => …`).
        """
        frame, parent = self.stack[-1], node.parent
        entered = frame.node if not frame.block and frame.kind in CALLABLE_KINDS else None
        if node.type == "function_type" and parent is not None and parent.type == "type_annotation":
            parent = parent.parent  # `save: (x: Disk) => void` of an interface
        value = parent if parent is not None and parent.type in _FUNCTION_VALUES else None
        if entered and value and value.parent and value.parent.byte_range == entered.byte_range:
            return  # the body of `const f = () => { … }`
        if entered and parent and entered.byte_range in (parent.byte_range, node.byte_range):
            return
        self.stack.append(
            Frame(
                node.start_byte,
                node.end_byte,
                frame.index,
                frame.qualified,
                frame.kind,
                block=True,
                function=node.type in FUNCTIONS,
            )
        )
        if self.language in BLOCKS:
            for name, chain in known_in(node, self.syntax):
                if name == IT and has_parameters(node):
                    continue
                self.add_binding(name, chain, node)

    def _base(self, relation: str, node: Node) -> None:
        if parts := parts_of(node):
            for one in parts:
                self._base(relation, one)
            return
        if self.script is not None and (value := type_by_name(node)) is not None:
            self.add_binding(ANY_NAME, f":{type_text(value)}", node)
            return
        frame = self.stack[-1]
        chain = _CALLED.sub("", chain_of(node, self.syntax)).removesuffix("[]")
        if relation == ALIAS and self.language == "cpp" and (held := alternatives(text_of(node))):
            chain = chain if held[0].endswith("*") else held[0].removeprefix(ITSELF)  # of smart pointers
        if node.type == "user_type" and sum(child.type == "identifier" for child in node.children) > 1:
            chain = text_of(node).partition("<")[0]  # Kotlin's `Outer.Base`
        if chain in (UNKNOWN, LITERAL) or chain.startswith(":"):
            names = alternatives(text_of(node))
            if not names:
                return
            chain = names[0].removeprefix(ITSELF)
        arguments = arguments_text(node) if self.language in GENERIC_LANGUAGES else ""
        base = Base(relation, chain, node.start_point[0] + 1, node.start_point[1], arguments)
        if frame.kind == "container":
            self.extensions.append(Extension(frame.qualified, base))
            return
        if frame.index >= 0 and self.opened[frame.index].name == _INCLUDED and self.language == "ruby":
            frame = self.stack[-2]  # `base.extend(Made)`: for whatever includes the module
        if frame.index >= 0 and self.opened[frame.index].kind in TYPE_KINDS:
            self.opened[frame.index].bases.append(base)

    def _callable(self, *, through_blocks: bool = False) -> Open | None:
        """The function that the sweep is in, not one around a block that has parameters of its
        own.
        """
        frame = self.stack[-1]
        if frame.index < 0:
            return None
        if frame.block and not (through_blocks and self._is_direct()):
            return None
        owner = self.opened[frame.index]
        return owner if owner.kind in CALLABLE_KINDS else None

    def _is_direct(self) -> bool:
        """Whether no function without a name is between the sweep and the definition around it."""
        blocks = itertools.takewhile(lambda frame: frame.block, reversed(self.stack))
        return not any(frame.function for frame in blocks)

    def _parameter(self, captures: Captures) -> None:
        names, types = captures.get("param.name"), captures.get("param.type")
        items, values = captures.get("param.item"), captures.get("param.value")
        declared = type_text(types[0]) if types else ""
        if items:
            declared = f"[]{text_of(items[0])}"[:TYPE_CHARS_MAX]
        owner = self._callable()
        if owner is None and self.rules.family == "c" and not self.stack[-1].block:
            return  # of a mere prototype
        said = owner.told.parameter(text_of(names[0]), declared) if owner and names else declared
        value = (
            f":{said}"[:TYPE_CHARS_MAX] if said else chain_of(values[0], self.syntax) if values else UNKNOWN
        )
        anchor = next(iter(names or types or items or ()), None)
        if owner is not None and anchor is not None and anchor.start_byte > owner.name_node.start_byte:
            name = text_of(anchor) if names else "_"
            results = owner.node.child_by_field_name("result") if self.language == "go" else None
            tests = self.language == "cpp" and owner.name not in text_of(owner.name_node)
            if (
                not (name == "_" and tests)
                and (results is None or anchor.start_byte < results.start_byte)
                and name != "this"
                and (name == "_" or all(parameter.name != name for parameter in owner.parameters))
            ):
                owner.parameters.append(Parameter(name, declared_type(anchor, declared, self.language)))
        for node in names or ():
            if value == UNKNOWN and self.script is not None:
                value = given(node, self.syntax)
            self.add_binding(text_of(node), value, node)
            if "field" in captures:
                own = next(iter(self.rules.self_names))
                self.add_binding(f"{own}.{text_of(node).lstrip('$')}", value, node)

    def _bind(self, captures: Captures) -> None:
        for node in captures["bind.name"]:
            if self.script is not None and self.script.takes(node):
                continue
            if self.language == "scala" and is_constant_pattern(node):
                continue
            if node.type in self.syntax.names or node.type in _FIELDS:
                name = name_of(node)
                if name.startswith("$") and self.stack[-1].kind in TYPE_KINDS:
                    name = name[1:]
            else:
                name = chain_of(node, self.syntax)
                if self.script is not None:
                    name = self.script.place(name)
                if name.count(".") != 1 or name[0] in "?#:" or "(" in name or "[" in name:
                    continue
            if self.language == "javascript" and (said := type_above(node)):
                self.add_binding(name, f":{said}"[:TYPE_CHARS_MAX], node)
            elif self.script is not None and "bind.value" in captures and "bind.type" not in captures:
                self.script.assign(name, node, captures["bind.value"][0])
            else:
                value = self.comments.type_of(node, self._value(captures))
                self.add_binding(name, self._of_parameter(name, value, node), node)
            if self.script is not None:
                self.script.exposes(name, node)

    def _of_parameter(self, name: str, value: str, node: Node) -> str:
        """`value`; where Kotlin's property has the name of a parameter of its class's constructor,
        which it hides from there on, as what is made of that.
        """
        frame, around = self.stack[-1], node.parent
        if self.language != "kotlin" or frame.block or frame.kind not in TYPE_KINDS or around is None:
            return value
        if around.type == "class_parameter":
            self.given[frame.index, name] = len(self.bindings)
            return value
        at = self.given.pop((frame.index, name), None)
        if at is None:
            return value
        hidden = self.bindings[at]
        self.bindings[at] = msgspec.structs.replace(hidden, until=node.start_byte)
        return with_root(value, name, hidden.value)

    def _narrow(self, captures: Captures) -> None:
        """`if isinstance(x, A):`: what is known in the block, or after an assertion."""
        name, types = captures["narrow"][0], text_of(captures["narrow.type"][0])
        if (chain := chain_of(name, self.syntax)).count(".") > 1 or chain[:1] in (UNKNOWN, LITERAL, ""):
            return
        alternative = " | ".join(part.strip() for part in types.strip("()").split(",") if part.strip())
        blocks = captures.get("narrow.block")
        after, frame = captures.get("narrow.after", (name,))[0], self.stack[-1]
        at, until = blocks[0].byte_range if blocks else (after.end_byte, end_around(after))
        self.bindings.append(
            Binding(narrowed(chain), f":{alternative}"[:TYPE_CHARS_MAX], frame.index, at, until)
        )

    def _name_types(self, source: str) -> None:
        """What comments of JavaScript call types, but for names that mean something else there."""
        taken = {one.name for held in (self.opened, self.imports, self.bindings) for one in held}
        for name, chain in names_of_types(source).items():
            if name not in taken:
                self.bindings.append(Binding(name, chain, -1, 0, 0))

    def _told(self, comment: Node) -> None:
        """PHP's `/** @var Route $one */` says it of a variable from there on."""
        for name, said in self.comments.read(comment).items():
            if name and self.stack[-1].kind not in TYPE_KINDS:
                self.add_binding(name, f":{said}"[:TYPE_CHARS_MAX], comment)

    def _value(self, captures: Captures) -> str:
        if types := captures.get("bind.type"):
            return ":" + type_text(types[0])
        if values := captures.get("bind.value"):
            said = literal_type(values[0]) if self.language == "csharp" else ""
            if self.language == "kotlin" and values[0].type in KOTLIN_TEXTS:
                said = "String"
            if not said and self.language in GENERIC_LANGUAGES:
                said = made_with(values[0])
            return f":{said}" if said else chain_of(values[0], self.syntax)
        if items := captures.get("bind.item"):
            return f"{chain_of(items[0], self.syntax)}[]"
        if made := captures.get("bind.made"):
            return f"{chain_of(made[0], self.syntax)}()"
        if parts := captures.get("bind.part"):  # Kotlin's `val (a, b) = x`
            return part_of(captures["bind.name"][0], chain_of(parts[0], self.syntax))
        if self.language == "kotlin":
            return parameter_of(captures["bind.name"][0], self.syntax)
        if self.language == "scala":
            return self._value_in_scala(captures)
        reader = SEVERAL.get(self.language)
        return reader(captures["bind.name"][0], self.syntax) if reader is not None else UNKNOWN

    def _value_in_scala(self, captures: Captures) -> str:
        name = captures["bind.name"][0]
        if each := captures.get("bind.each"):
            return given_in_for(chain_of(each[0], self.syntax))
        if whole := captures.get("bind.whole"):
            return part_of_pattern(name, whole[0])
        return given_to_parameter(name, lambda one: chain_of(one, self.syntax))

    def add_binding(self, name: str, value: str, node: Node) -> None:
        frame = self.stack[-1]
        owner = self.opened[frame.index] if frame.index >= 0 else None
        if owner is not None and owner.name_node.start_byte == node.start_byte:
            return  # `const f = () => …`: the function itself
        until = frame.end if frame.block else 0
        if self.language == "swift" and value[:1] == ":":
            value = value.replace("&", "+")  # of several protocols
        # A comprehension's variable is bound after the expression that uses it.
        at = frame.begin if frame.block and self.syntax.hoisted else bound_from(node, self.language)
        self.bindings.append(Binding(name, value, frame.index, at, until))

    def _call(self, node: Node, callee: Node) -> None:
        if self.language == "swift" and node.parent is not None and node.parent.type == "selector_expression":
            return  # `#selector(save(_:))` only names it
        if self.script is not None:
            callee = self.script.called(node, callee)
        if callee.type == "unary_expression":  # Kotlin's `!f()`
            callee = uncovered(callee, self.syntax)
        kind, syntax = callee.type, self.syntax
        if kind in syntax.calls and not (syntax.requires and required(callee)):
            return  # f()(): nobody knows
        member = callee
        if (shape := syntax.methods.get(kind)) is not None:
            inner, member = child_of(callee, shape[0]), child_of(callee, shape[1]) or callee
            chain = text_of(member) if inner is None else f"{chain_of(inner, syntax, 1)}.{text_of(member)}"
        else:
            chain = chain_of(callee, syntax)
            if (shape := syntax.members.get(kind)) is not None:
                member = last_of(child_of(callee, shape[1]) or callee, syntax)
            elif kind == "qualified_name":  # PHP's `A\b()` stands where `b` does
                member = child_of(callee, "-1") or callee
        if node.type == "infix_expression":
            chain = _CALLED.sub("", infix_of(node, syntax))
            if chain.rpartition(".")[2] != UNKNOWN:
                self._refer("call", chain, callee, Given(1))
            return
        if node.type == "macro_invocation":
            self._refer("call", f"{chain}!", member)
            return
        if module_of(chain) and (behind := node.child_by_field_name("arguments")) is not None:
            member = behind  # of `require("x")()`, whose name is that of another call
        if chain.startswith(":") or kind in _COVERS or _GIVEN.search(chain):
            return
        if self.language == "cpp" and (mock := mocked(node, syntax)):
            chain = f"{mock}.{chain}"
        if node.type == "attribute" and not chain.endswith(_ATTRIBUTE):
            chain += _ATTRIBUTE
        told = given_to(node, callee, syntax, overloads=self.rules.overloads)
        if node.type in _MAKE_ONE:
            told = Given(*told[:2], MADE)
        self._refer("call", chain, member, told)

    def _bound(self, name: str, bound: str) -> None:
        """A type parameter: what is declared to be one is what its bounds say. Those of a container
        are bound in each definition in it.
        """
        frame = self.stack[-1]
        if self.language == "swift":
            bound = bound.replace("&", "+")
        text = f"{frame.bounds.get(name, '')} + {bound.lstrip(': ')}"[:TYPE_CHARS_MAX].lstrip("+ ")
        frame.bounds[name] = text
        if frame.kind != "container" and frame.index >= 0:
            self.bindings.append(Binding(name, f":{text}", frame.index, frame.begin, 0))

    def _macro(self, body: Node) -> None:
        """The calls that a C macro's text makes wherever it is used."""
        row, column = body.start_point
        for chain, line, at in calls(text_of(body)):
            place = (row + 1 + line, at if line else column + at)
            self.references.append(Reference("call", chain, self.stack[-1].index, *place, body.start_byte))

    def _refer(self, kind: str, chain: str, node: Node, given: Given = _NOTHING_GIVEN) -> None:
        if chain.rpartition(".")[2] in _NOTHING:
            return
        row, column = node.start_point
        self.references.append(
            Reference(kind, chain, self.stack[-1].index, row + 1, column, node.start_byte, *given)
        )

    def _delegated(self, node: Node, to: Node) -> None:
        """Ruby's `delegate :save, to: :store`: a method of the class is one of what it holds."""
        name, holder = text_of(node).lstrip(":"), text_of(to).lstrip(":")
        called = delegate_name(node, holder) if self.stack[-1].kind in TYPE_KINDS else ""
        for ending in ("", "()") if called else ():  # `attr_reader :store` or `def store`
            self.add_binding(called, f"self.{holder.lstrip('@')}{ending}.{name}", node)

    def _type(self, node: Node) -> None:
        text = text_of(node) if self.language != "php" else text_of(node).replace("\\", ".")
        if len(text) > TYPE_CHARS_MAX:
            return
        for name in dict.fromkeys(names_in(text)):
            self._refer("type", name, node)

    def _import(self, node: Node) -> None:
        found = Imported()
        READERS[self.language](node, found)
        for one in found.names:
            self.add_import(one, node)
        self.exports.update(self.script.gives(found.exports, node) if self.script else found.exports)
        if self.script is not None and any(child.type == "=" for child in node.children):
            self.script.assign(WHOLE, node, node.named_children[-1])  # TypeScript's `export = x`
        if self.script is not None:
            self.script.gives_by_default(node)

    def add_import(self, one: tuple[str, str, str, bool], node: Node) -> None:
        name, module, member, exported = one
        scope, inside = self.stack[-1].index, ""
        rare = self.language == "rust" and is_rare(node)
        if self.language == "rust" and (inside := module_around(node)):
            module = within(module, inside)
        self.imports.append(
            Import(
                name, module, member, scope, node.start_point[0] + 1, node.start_byte, exported, inside, rare
            )
        )

    def _definitions(self) -> tuple[Definition, ...]:
        written = {(one.parent, one.name) for one in self.opened}
        self.opened += (one for one in self.told if (one.parent, one.name) not in written)
        return tuple(
            one.made(one.flags if self.script is None else self.script.flags(one)) for one in self.opened
        )
