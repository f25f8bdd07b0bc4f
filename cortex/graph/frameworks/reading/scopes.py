"""Names and routers in the scopes of a file, for read.py."""

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import child_of, required_module, text_of
from cortex.graph.facts.facts import Facts, Fragment, Import
from cortex.graph.facts.grammars import Grammar
from cortex.graph.facts.scripts import MODULE_EXPORTS
from cortex.graph.frameworks.reading.literals import UNKNOWN, Literals, fields_of
from cortex.graph.frameworks.reading.loops import LISTS, unwrap
from cortex.graph.frameworks.tables.framework import Attributes, Framework, Places
from cortex.graph.frameworks.tables.table import FRAMEWORKS

_SETTING = re.compile(r"\$\{[^}]*\}")
#: characters of a loop's variable with a field
NAME_CHARS_MAX = 80
#: steps of a file's reader, and fragments: blocks that name one another multiply
STEPS_MAX, FRAGMENTS_MAX = 100_000, 20_000

_PLACED = tuple(framework for framework in FRAMEWORKS if framework.files)


def frameworks_of(path: str, imports: Sequence[Import]) -> tuple[Framework, ...]:
    """Return the frameworks that a file imports; () for nearly every file."""
    names = {name for statement in imports for name in _names_of(statement.module)}
    if not names:
        return ()
    return tuple(row for row in FRAMEWORKS if row.name in names and path.endswith(row.ending))


@lru_cache(maxsize=10_000)
def _names_of(module: str) -> tuple[str, ...]:
    """Return the frameworks of a module: the files of a project import the same ones."""
    return tuple(framework.name for framework in FRAMEWORKS if is_of(module, framework))


def recognise(facts: Facts, root: Node) -> tuple[Framework, ...]:
    """Return the frameworks of a file, by its imports, or by its path and text."""
    imported = frameworks_of(facts.path, facts.imports)
    placed = [framework for framework in _PLACED if re.search(framework.files, facts.path)]
    return imported + tuple(
        framework
        for framework in placed
        if framework not in imported
        and not (imported and framework.written)
        and re.search(framework.written or framework.holds, root.text or b"")
    )


def with_calls(frameworks: Sequence[Framework], text: bytes) -> tuple[Framework, ...]:
    """Return the frameworks whose calls a file may have."""
    return tuple(
        framework
        for framework in frameworks
        if (framework.members or framework.functions) and re.search(framework.holds, text)
    )


def with_attributes(frameworks: Sequence[Framework], text: bytes) -> tuple[Framework, ...]:
    """Return the frameworks whose attributes a file may have."""
    return tuple(
        framework
        for framework in frameworks
        if framework.name in _ATTRIBUTES and _ATTRIBUTES[framework.name].search(text)
    )


def _attributes_of(row: Attributes) -> re.Pattern[bytes]:
    names = {*row.controllers, *row.prefixes, *row.methods, *row.modules}
    ends = rb"|Controller\b" if row.tokens else b""
    return re.compile(rb"[@\[,.:]\s*(?:" + "|".join(sorted(names)).encode() + rb")\b" + ends)


#: framework → text of every file with its attributes
_ATTRIBUTES = {
    framework.name: _attributes_of(framework.attributes)
    for framework in FRAMEWORKS
    if framework.attributes is not None
}


def is_of(module: str, framework: Framework) -> bool:
    return any(module == name or module.startswith((f"{name}.", f"{name}/")) for name in framework.modules)


@dataclass(slots=True)
class Frame:
    """A function around the reader: its name for keys, the definition, the routers of its variables
    ("" for a variable without one), and its variables with literal lists.
    """

    name: str = ""
    definition: int = -1
    routers: dict[str, str] = field(default_factory=dict)
    lists: dict[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call or attribute."""

    node: Node
    positional: list[Node]
    keywords: dict[str, Node]

    def at(self, places: Places) -> Node | None:
        for place in places:
            if isinstance(place, str):
                if (node := self.keywords.get(place)) is not None:
                    return node
            elif -len(self.positional) <= place < len(self.positional):
                return self.positional[place]
        return None


class Scopes:
    """The fragments so far, and the routers of names."""

    def __init__(self, facts: Facts, grammar: Grammar, frameworks: Sequence[Framework]) -> None:
        self.fragments: list[Fragment] = []
        self.facts = facts
        self.syntax, self.rules = grammar.syntax, grammar.rules
        self.frameworks = frameworks
        self.literals = Literals()
        self.frames = [Frame()]
        #: name → (framework, member) of its import, and all other imported names
        self.names: dict[str, tuple[Framework, str]] = {}
        self.imported: set[str] = set()
        for statement in (statement for statement in facts.imports if statement.name):
            framework = next(
                (framework for framework in frameworks if is_of(statement.module, framework)), None
            )
            if framework is not None:
                member = "" if statement.member == "default" else statement.member
                self.names.setdefault(statement.name, (framework, member))
            else:
                self.imported.add(statement.name)
        self.names |= {name: (framework, "") for framework in frameworks for name in framework.types}
        for definition in facts.definitions:  # `class ShopApp(Flask)`
            for base in definition.bases:
                if (
                    base.chain in self.names
                    and self.names[base.chain][1] in self.names[base.chain][0].routers
                ):
                    self.names.setdefault(definition.name, self.names[base.chain])
        self.begins = [definition.begin for definition in facts.definitions]
        #: router's key → its framework, None for a list
        self.known_routers: dict[str, Framework | None] = {}
        #: attributes of any object: `self.app`
        self.attributes: dict[str, str] = {}
        #: routers for the first parameter of a function: begin of its node → key
        self.blocks: dict[int, str] = {}
        #: groups whose routes have no path: `router.route("/orders").get(list)`
        self.complete: set[str] = set()
        self.listed = tuple({f".{framework.listed}" for framework in frameworks if framework.listed})
        #: routers whose paths end without a slash
        self.bare: set[str] = set()
        #: router → the list of functions that are called for each of its routes
        self.injected: dict[str, Node] = {}
        #: variables of the loops around the reader, and fields of these → their present values
        self.looped: dict[str, Node] = {}
        #: lists that get further elements, by node
        self.grown: set[int] = set()
        #: nodes of these values: their names mean those around the loop
        self.looped_values: set[int] = set()
        #: the node that the innermost loop repeats
        self.body = 0
        #: bytes that further passes through loops have read
        self.repeated = 0
        #: the list around the reader
        self.list = ""
        self.count = self.steps = 0

    def go_on(self) -> bool:
        """Count a step; return False after too many."""
        self.steps += 1
        return self.steps < STEPS_MAX and len(self.fragments) < FRAGMENTS_MAX

    def dotted(self, node: Node) -> str:
        """Return `a.b.c` or `a.b()`, "" for other expressions."""
        if (value := self.meant(node)) is not node:
            return self.dotted(value)
        if node.type in self.syntax.names:
            return text_of(node)
        if (fields := self.syntax.members.get(node.type)) is not None:
            inner, member = child_of(node, fields[0]), child_of(node, fields[1])
            before = self.dotted(inner) if inner is not None else ""
            return f"{before}.{text_of(member)}" if before and member is not None else ""
        return ""

    def export_members(self, node: Node) -> None:
        """Give the routers of an exported object their names there; one under its own name is found
        by that.
        """
        for pair in node.named_children:
            value = pair.child_by_field_name("value")
            if value is not None and (key := self.look_up(self.dotted(value))):
                name = text_of(pair.named_children[0]).strip("'\"")
                self.add("mount", f"={MODULE_EXPORTS}.{name}", pair, target=key, flags=("same",))

    def look_up(self, chain: str) -> str:
        if chain.endswith(self.listed):
            chain = chain.rpartition(".")[0]
        root, _, rest = chain.partition(".")
        if not root:
            return ""
        for frame in reversed(self.frames):
            if (key := frame.routers.get(chain)) is not None:
                return key
            if root in frame.routers:
                return self.attributes.get(rest.rpartition(".")[2], "") if rest else ""
        if root in self.imported:
            return chain
        return self.attributes.get(chain.rpartition(".")[2], "") if rest else ""

    def meant(self, node: Node) -> Node:
        """Return the present value of a loop's variable, the node itself for others."""
        is_long = node.end_byte - node.start_byte > NAME_CHARS_MAX
        if not self.looped or is_long or node.id in self.looped_values:
            return node
        return self.looped.get(text_of(node), node)

    def list_of(self, node: Node) -> Node | None:
        """Return the literal list that an expression is or names."""
        if (value := unwrap(self.meant(node))).type in LISTS:
            return value
        name = self.dotted(node)
        for frame in reversed(self.frames):
            if name in frame.lists or name in frame.routers:
                return frame.lists.get(name)
        return None

    def key(self, holder: str = "", *, in_parts: bool = False) -> str:
        """Return the key for a new router; `in_parts`: a variable may get it in several parts."""
        around = self.frames[-1].name
        name = f"{around}.{holder}" if around and holder else holder
        if not name or (not in_parts and f"={name}" in self.known_routers):
            self.count += 1
            name = f"{name or around}~{self.count}"
        return f"={name}"

    def parameters(self, node: Node) -> Iterator[tuple[str, bool]]:
        """Yield the name of each parameter, and whether its type is of a framework."""
        single, listed = node.child_by_field_name("parameter"), node.child_by_field_name("parameters")
        if listed is not None and listed.type == "implicit_parameter":
            single, listed = listed, None
        if single is not None:
            yield text_of(single), False
        for parameter in listed.named_children if listed is not None else ():
            kind = parameter.child_by_field_name("type")
            words = set(re.findall(r"\w+", text_of(kind))) if kind is not None else set()
            typed = not words.isdisjoint(self.names)
            name_nodes = parameter.children_by_field_name("name") or parameter.children_by_field_name(
                "pattern"
            )
            for name in name_nodes or parameter.named_children[:1] or [parameter]:
                yield text_of(name), typed

    def read_constants(self, body: Node, owner: str) -> None:
        """Keep the texts of a class's fields, also of its companion's."""
        for name, value in fields_of(body):
            if any("string" in node.type for node in (value, *value.named_children)):
                self.literals.add(name, value)
                self.literals.add(f"{owner}.{name}", value)
        for member in body.named_children:
            if member.type == "companion_object":
                self.read_constants(last_of(member), owner)

    def definition_at(self, byte: int) -> int:
        """Return the innermost definition that holds a byte, -1 for none."""
        at = bisect.bisect_right(self.begins, byte) - 1
        while at >= 0 and self.facts.definitions[at].end <= byte:
            at = self.facts.definitions[at].parent if self.facts.definitions[at].parent >= 0 else at - 1
        return at

    def imported_member(self, chain: str) -> tuple[Framework | None, str]:
        if chain.startswith("'"):
            module, _, rest = chain[1:].partition("'")
            framework = next((framework for framework in self.frameworks if is_of(module, framework)), None)
            return framework, rest.lstrip(".")
        root, _, rest = chain.partition(".")
        if root not in self.names or any(root in frame.routers for frame in self.frames):
            return None, ""
        framework, member = self.names[root]
        return framework, (rest or member).rpartition(".")[2]

    def frameworks_of(self, key: str) -> Sequence[Framework]:
        framework = self.known_routers.get(key)
        return (framework,) if framework is not None else self.frameworks

    def called_name(self, callee: Node) -> str:
        """Return the chain of a called function, also of a required module: `'./users'.make`."""
        if not self.syntax.requires:
            return self.dotted(callee)
        if module := required_module(callee):
            return f"'{module}'"
        fields = self.syntax.members.get(callee.type)
        inner, member = (child_of(callee, name) for name in fields) if fields else (None, None)
        if inner is not None and member is not None and (module := required_module(inner)):
            return f"'{module}'.{text_of(member)}"
        return self.dotted(callee)

    def prefix(self, node: Node | None) -> tuple[str, tuple[str, ...]]:
        """Return (literal text, ()), or (text with names of constants, the flag `computed`)."""
        if node is None:
            return "", ()
        text = self.literals.text(node)
        if text is not None and "${" in text:  # a setting of Spring's
            return _SETTING.sub(UNKNOWN, text), ("computed",)
        if text is not None:
            return text, ()
        return self.literals.template(node) or self.dotted(node), ("computed",)

    def add(
        self,
        kind: str,
        router: str,
        node: Node,
        *,
        template: str = "",
        methods: tuple[str, ...] = (),
        target: str = "",
        argument: Node | None = None,
        flags: tuple[str, ...] = (),
    ) -> None:
        """Add a fragment at a node; `argument`: the node with the target."""
        (row, column), (end, _) = node.start_point, node.end_point
        is_root = kind == "router" or (kind == "route" and router == "=")
        if is_root and any(framework.any_case for framework in self.frameworks_of(router)):
            flags = (*flags, "any_case")
        place = self.frames[-1].definition, row + 1, column, end + 1, _span_of(argument)
        self.fragments.append(Fragment(kind, router, template, methods, target, *place, flags))


def last_of(node: Node) -> Node:
    """Return the last child with a name; the node itself without one."""
    return node.named_children[-1] if node.named_children else node


def _span_of(node: Node | None) -> tuple[int, int, int, int]:
    if node is None:
        return 0, 0, 0, 0
    (row, column), (end, last) = node.start_point, node.end_point
    return row + 1, column, end + 1, last
