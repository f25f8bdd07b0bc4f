"""Blocks of long definitions: the lines of their statements, from syntax nodes that are already
parsed. Pure.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from tree_sitter import Node

#: a block: first line, last line, depth; 1-based and inclusive
Block = tuple[int, int, int]

#: lines from which on a definition has blocks
LONG_LINES = 41
#: lines of a statement up to which it shares a block with its neighbours, and of such a block: a
#: call and the check of its error belong together
SHORT_LINES, GROUP_LINES = 4, 8
#: lines of a statement from which on the statements inside it are blocks, too
COMPOUND_LINES = 16
#: nodes of branches, each a block of its own: its head decides when its lines run
_BRANCH = re.compile(
    r"(?:case|default|switch|when|rescue|ensure|else|elsif|elif|elseif|except|finally|catch|match)(?:_|$)|\w+_(?:case|arm|clause)$"
)
#: the largest depth of a block
DEPTH_MAX = 3
#: nodes between two lists of statements, one inside the other: bounds the recursion over long
#: chains of operators and calls
NESTING_MAX = 100


@dataclass(frozen=True, slots=True)
class Layout:
    """The parts of a file that decide its blocks: its lines, the types of the nodes that hold
    statements, the first and last byte of each definition, and the first and last line of each
    comment and attribute above other code.
    """

    lines: Sequence[bytes]
    lists: Collection[str]
    definitions: Collection[tuple[int, int]]
    attached: Collection[tuple[int, int]]


def blocks_of(layout: Layout, nodes: Sequence[Node], body: Node | None) -> tuple[Block, ...]:
    """Return the blocks of one definition by first line and depth; () without a body.

    `nodes` are its parts: several for a function in several clauses. `body` is the body of the only
    part, None where the query does not capture it.
    """
    walk = _Walk(layout)
    if len(nodes) > 1:
        for node in nodes:
            first, last = walk.span(node)
            walk.statement(node, 0, first, first, last)
    elif body is None:
        walk = _Walk(replace(layout, definitions=()))
        walk.inside(nodes[0], 0, walk.span(nodes[0])[0])
    else:
        walk.body(body)
    if body is None and len(nodes) == 1 and not walk.has_list:
        return ()
    blocks = [(lane[0], lane[1], depth) for depth, lanes in enumerate(walk.lanes) for lane in lanes]
    return tuple(sorted(blocks, key=_by_line))


def _by_line(block: Block) -> tuple[int, int]:
    return block[0], block[2]


@dataclass(slots=True)
class _Walk:
    layout: Layout
    #: the blocks of each depth: first line, last line, whether it may grow
    lanes: list[list[list[int]]] = field(default_factory=lambda: [[] for _ in range(DEPTH_MAX + 1)])
    has_list: bool = False

    def body(self, node: Node) -> None:
        """Take the statements of a body, and those behind it (`where` in Haskell)."""
        chain, before, above = [node], 0, node.prev_sibling
        while above is not None and above.is_extra and self._owns_line(above):
            before, above = above.start_point[0] + 1, above.prev_sibling
        while chain[-1].type not in self.layout.lists:
            inner, comment = self._only_child(chain[-1])
            if inner is None:
                first, last = self.span(node)
                self.statement(node, 0, before or first, first, last)
                return
            chain.append(inner)
            before = before or comment
        self.statements(chain[-1], 0, 0, before)
        for link in reversed(chain):
            self._behind(link)

    def _only_child(self, node: Node) -> tuple[Node | None, int]:
        """Return the only named child, or None, and the line of a comment above it, or 0."""
        only: Node | None = None
        comment = 0
        for child in node.named_children:
            if child.is_extra:
                if only is None and self._owns_line(child):
                    comment = comment or child.start_point[0] + 1
            elif only is not None:
                return None, 0
            else:
                only = child
        return only, comment

    def _behind(self, node: Node) -> None:
        after = node.next_named_sibling
        while after is not None:
            first, last = self.span(after)
            if not after.is_extra:
                self.statement(after, 0, first, first, last)
            elif self.lanes[0] and self._owns_line(after):
                self.lanes[0][-1][1] = last
            after = after.next_named_sibling

    def statements(self, node: Node, depth: int, head: int, before: int = 0) -> None:
        """Take each statement of a list, but those of the line `head`: the outer statement begins
        there. `before` is the line of a comment right above the list, 0 for none.
        """
        self.has_list = True
        lane, span, attached = self.lanes[depth], self.span, self.layout.attached
        if lane:
            lane[-1][2] = False
        count = len(lane)
        first_comment = last_comment = before
        for child in node.named_children:
            place = first, last = span(child)
            if last <= head:
                continue
            if not child.is_extra and place not in attached:
                self.statement(child, depth, first_comment or first, first, last)
                first_comment = 0
            elif lane and first <= lane[-1][1]:  # behind a statement
                lane[-1][1] = max(lane[-1][1], last)
            else:
                first_comment, last_comment = first_comment or first, last
        if first_comment and len(lane) > count:
            lane[-1][1] = max(lane[-1][1], last_comment)
        elif first_comment:
            lane.append([first_comment, last_comment, False])

    def statement(self, node: Node, depth: int, start: int, first: int, last: int) -> None:
        """Take a statement of the lines `first` to `last`; its block begins at line `start`, with
        the comment above it.
        """
        lane = self.lanes[depth]
        is_short = last - first < SHORT_LINES and _BRANCH.match(node.type) is None
        above = lane[-1] if lane else [0, -1, False]
        if start <= above[1]:  # two statements on one line
            above[1:] = [max(above[1], last), False]
        elif is_short and above[2] and start == first == above[1] + 1 and last - above[0] < GROUP_LINES:
            above[1] = last
        else:
            lane.append([start, last, is_short])
        is_compound = last - first + 1 >= COMPOUND_LINES and depth < DEPTH_MAX
        if is_compound and (node.start_byte, node.end_byte) not in self.layout.definitions:
            self.inside(node, depth + 1, first)

    def inside(self, node: Node, depth: int, head: int, nesting: int = 0) -> None:
        """Take the statements inside a node that begins at line `head`."""
        if node.type in self.layout.lists:
            self.statements(node, depth, head)
            return
        before = 0
        for child in node.children if nesting < NESTING_MAX else ():
            if child.is_extra:
                if self._owns_line(child):
                    before = before or child.start_point[0] + 1
                continue
            if child.type in self.layout.lists:
                self.statements(child, depth, head, before)
            elif child.start_point[0] < child.end_point[0]:
                if (child.start_byte, child.end_byte) not in self.layout.definitions:
                    self.inside(child, depth, head, nesting + 1)
                elif child.start_point[0] >= head:
                    first, last = self.span(child)
                    self.statement(child, depth, before or first, first, last)
            before = 0

    def span(self, node: Node) -> tuple[int, int]:
        """Return the first and last line of a node, without blank lines at its end: where
        indentation counts, a node ends where the next begins.
        """
        first, (last, column) = node.start_point[0], node.end_point
        if last > first and not self.layout.lines[last][:column].strip():
            last -= 1
            while last > first and not self.layout.lines[last].strip():
                last -= 1
        return first + 1, last + 1

    def _owns_line(self, node: Node) -> bool:
        row, column = node.start_point
        return not self.layout.lines[row][:column].strip()
