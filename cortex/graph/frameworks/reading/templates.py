"""Text of URLs with holes: `/users/{user.id}`. A hole has the short name of its value."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.frameworks.reading.literals import MEMBERS, Literals, camel, fields_of

_ASSIGNS = frozenset(
    "assignment variable_declarator assignment_expression short_var_declaration const_spec var_spec "
    "augmented_assignment augmented_assignment_expression assignment_statement".split()
)
_NAME = re.compile(r"[\w$.]{1,60}")
_PERCENT = re.compile(r"%[-+0-9.]*[sdvqrfi]|%\(\w+\)[sd]")
_CALLS = frozenset(("call", "call_expression"))
#: nodes that are searched for the values of a function's variables
_NODES_MAX = 4_000


class Templates(Literals):
    """Reads the URL of a call; constants are those of the functions and classes around it, and of
    the file. `helper` matches an expression for a route's URL by its name: the text is `@orders`;
    `owner` the class of the actions that a test names, else `placed` in the test's own path.
    """

    def __init__(self, helper: str, owner: str, placed: str, path: str, root: Node) -> None:
        super().__init__()
        self._helper = re.compile(helper) if helper else None
        owners = {match[1] for match in re.finditer(owner, text_of(root))} if owner else set()
        self._owner = owners.pop().replace("::", ".") if len(owners) == 1 else ""
        if placed and (match := re.search(placed, path)):
            name = ".".join(map(camel, match[1].split("/")))
            is_same = not self._owner or f".{name}".endswith(f".{self._owner}")
            self._owner = name if is_same else self._owner
        self._assigned: dict[int, dict[str, Node | None]] = {}

    def text(self, node: Node, depth: int = 0) -> str | None:
        if (text := super().text(node, depth)) is not None:
            return text
        name = text_of(node) if node.end_byte - node.start_byte <= 60 else ""
        return f"{{{name}}}" if _NAME.fullmatch(name) else "{}"

    def _read(self, node: Node, depth: int) -> str | None:
        kind = node.type
        if self._helper is not None and (match := self._helper.match(text_of(node)[:200])):
            name, action = match[1], match[match.lastindex or 1]
            return f"@{name}" if name else f"@{self._owner}#{action}" if self._owner else None
        if kind == "identifier" or (kind in MEMBERS and text_of(node).startswith("this.")):
            value = self._find(node)
            return self.text(value, depth + 1) if value is not None else None
        if kind in _CALLS:
            return self._format(node, depth)
        if kind == "binary_operator" and (operator := node.child_by_field_name("operator")) is not None:
            left = node.child_by_field_name("left")
            if text_of(operator) == "%" and left is not None and "string" in left.type:
                return _PERCENT.sub("{}", self.text(left, depth + 1) or "")
        return super()._read(node, depth)

    def _format(self, node: Node, depth: int) -> str | None:
        """Read `"…".format(x)` and `fmt.Sprintf("…", x)`."""
        callee, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        holder = callee.child_by_field_name("object") if callee is not None else None
        if callee is None or listed is None or not listed.named_children:
            return None
        if holder is not None and "string" in holder.type and text_of(callee).endswith(".format"):
            return self.text(holder, depth + 1)
        if text_of(callee) == "fmt.Sprintf":
            return _PERCENT.sub("{}", self.text(listed.named_children[0], depth + 1) or "")
        return None

    def _interpolated(self, node: Node, depth: int) -> str | None:
        return self.text(node.named_children[0], depth + 1) if node.named_children else None

    def _find(self, node: Node) -> Node | None:
        """Return the only value of a name in the functions around it; None for a parameter."""
        name, around = text_of(node).removeprefix("this."), node.parent
        is_field = node.type != "identifier"
        while around is not None:
            body = around.child_by_field_name("body") if "class" in around.type else None
            if body is not None and name in (fields := self._fields(around, body)):
                return fields[name]
            if is_field:
                around = around.parent
                continue
            parameters = around.child_by_field_name("parameters") or around.child_by_field_name("parameter")
            if parameters is not None or around.parent is None:
                values = self._assigned.get(around.id)
                if values is None:
                    values = self._assigned[around.id] = dict(_assignments(around))
                if name in values:
                    value = values[name]
                    return value if value is not None and value.end_byte <= node.start_byte else None
                if parameters is not None and re.search(rf"\b{re.escape(name)}\b", text_of(parameters)):
                    return None
            around = around.parent
        return None

    def _fields(self, owner: Node, body: Node) -> dict[str, Node | None]:
        """Return the fields of a class with the value that no method changes."""
        if owner.id not in self._assigned:
            changed = set(re.findall(r"\bthis\.(\w+)\s*\+?=[^=]", text_of(body)))
            self._assigned[owner.id] = {
                name: None if name in changed else node for name, node in fields_of(body)
            }
        return self._assigned[owner.id]


def _assignments(root: Node) -> Iterator[tuple[str, Node | None]]:
    """Yield each name that a function assigns, with its value; None for several."""
    seen: set[str] = set()
    nodes, count = [root], 0
    while nodes and count < _NODES_MAX:
        node = nodes.pop()
        count += 1
        if node.type in _ASSIGNS:
            left = node.child_by_field_name("left") or node.child_by_field_name("name")
            right = node.child_by_field_name("right") or node.child_by_field_name("value")
            if left is not None and right is not None and _NAME.fullmatch(name := text_of(left)):
                plain = "augmented" not in node.type and name not in seen
                seen.add(name)
                yield name, right if plain else None
        is_function = node.child_by_field_name("parameters") is not None
        if node.id == root.id or not (is_function or "class" in node.type):
            nodes += reversed(node.named_children)
