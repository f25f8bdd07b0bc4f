"""Blocks of long definitions: the lines of their statements, from syntax nodes that are already
parsed. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

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
#: the largest depth of a block
DEPTH_MAX = 3
#: nodes between two lists of statements, one inside the other: bounds the recursion over long
#: chains of operators and calls
NESTING_MAX = 100


def blocks_of(
    nodes: Sequence[Node],
    body: Node | None,
    lines: Sequence[bytes],
    lists: Collection[str],
    named: Collection[tuple[int, int]],
    attached: Collection[tuple[int, int]],
) -> tuple[Block, ...]:
    """Return the blocks of one definition by first line and depth; () if it has no list of
    statements.

    `nodes` are its parts: several for a function in several clauses. `body` is the body of the only
    part, None where the query does not capture it. `lines` is the file, `lists` the types of the
    nodes that hold statements, `named` the first and last byte of each definition, and `attached`
    the lines of comments and attributes that belong to the next line.
    """
    walk = _Walk(lines, lists, named, attached)
    if len(nodes) > 1:
        for node in nodes:
            walk.statement(node, 0, walk.span(node)[0])
    elif body is None:
        walk.inside(nodes[0], 0, walk.span(nodes[0])[0])
    else:
        walk.body(body)
    if not walk.has_list:
        return ()
    found = [(lane[0], lane[1], depth) for depth, lanes in enumerate(walk.lanes) for lane in lanes]
    return tuple(sorted(found, key=_by_line))


def _by_line(block: Block) -> tuple[int, int]:
    return block[0], block[2]


@dataclass(slots=True)
class _Walk:
    lines: Sequence[bytes]
    lists: Collection[str]
    named: Collection[tuple[int, int]]
    attached: Collection[tuple[int, int]]
    #: the blocks of each depth: first line, last line, whether it may grow
    lanes: list[list[list[int]]] = field(default_factory=lambda: [[] for _ in range(DEPTH_MAX + 1)])
    has_list: bool = False

    def body(self, node: Node) -> None:
        """Take the statements of a body; those after it, too (`where` in Haskell)."""
        before, node_above = 0, node.prev_sibling
        while node_above is not None and node_above.is_extra and self._owns_line(node_above):
            before, node_above = node_above.start_point[0] + 1, node_above.prev_sibling
        held = self._only_list(node)
        if held is None:
            self.statement(node, 0, before or self.span(node)[0])
        else:
            self.statements(held, 0, 0, before)
        after = node.next_named_sibling
        while after is not None:
            if not after.is_extra:
                self.statement(after, 0, self.span(after)[0])
            elif self.lanes[0] and self._owns_line(after):
                self.lanes[0][-1][1] = self.span(after)[1]
            after = after.next_named_sibling

    def _only_list(self, node: Node) -> Node | None:
        """Return the list of statements with the same lines as `node`, None if there is none."""
        first, last = self.span(node)
        while node.type not in self.lists:
            inner = [child for child in node.named_children if self.span(child)[1] > self.span(child)[0]]
            if len(inner) != 1:
                return None
            node = inner[0]
            low, high = self.span(node)
            # a list may begin below a bracket and end above one
            if low > first + 1 or high < last - 1 or any(map(self._has_words, (*range(first, low), *range(high + 1, last + 1)))):
                return None
        return node

    def statements(self, node: Node, depth: int, head: int, before: int = 0) -> None:
        """Take each statement of a list: those of the line `head`, where the outer statement begins,
        belong to that. `before` is the line of a comment right above the list, 0 for none.
        """
        self.has_list = True
        lane = self.lanes[depth]
        if lane:
            lane[-1][2] = False
        count = len(lane)
        comment = (before, before) if before else None
        for child in node.named_children:
            first, last = self.span(child)
            if last <= head:
                continue
            if child.is_extra or (first, last) in self.attached:
                if lane and first <= lane[-1][1]:  # behind a statement
                    lane[-1][1] = max(lane[-1][1], last)
                else:
                    comment = (comment[0] if comment else first, last)
            else:
                self.statement(child, depth, comment[0] if comment else first)
                comment = None
        if comment and len(lane) > count:
            lane[-1][1] = max(lane[-1][1], comment[1])
        elif comment:
            lane.append([*comment, False])

    def statement(self, node: Node, depth: int, start: int) -> None:
        """Take a statement whose block begins at line `start`, with the comment above it."""
        first, last = self.span(node)
        lane = self.lanes[depth]
        is_short = last - first < SHORT_LINES
        if lane and start <= lane[-1][1]:  # two statements on one line
            lane[-1][1:] = [max(lane[-1][1], last), False]
        elif (
            lane
            and lane[-1][2]
            and is_short
            and start == first == lane[-1][1] + 1
            and last - lane[-1][0] < GROUP_LINES
        ):
            lane[-1][1] = last
        else:
            lane.append([start, last, is_short])
        if last - first + 1 >= COMPOUND_LINES and depth < DEPTH_MAX:
            self.inside(node, depth + 1, first)

    def inside(self, node: Node, depth: int, head: int, nesting: int = 0) -> None:
        """Take the statements inside a node that begins at line `head`."""
        if node.type in self.lists:
            self.statements(node, depth, head)
            return
        before = 0
        for child in node.children if nesting < NESTING_MAX else ():
            if child.is_extra:
                if self._owns_line(child):
                    before = before or child.start_point[0] + 1
                continue
            if child.type in self.lists:
                self.statements(child, depth, head, before)
            elif child.start_point[0] < child.end_point[0]:
                if (child.start_byte, child.end_byte) in self.named and child.start_point[0] >= head:
                    self.statement(child, depth, before or self.span(child)[0])
                else:
                    self.inside(child, depth, head, nesting + 1)
            before = 0

    def span(self, node: Node) -> tuple[int, int]:
        """Return the first and last line of a node, without blank lines at its end: where
        indentation counts, a node ends where the next begins.
        """
        first, (last, column) = node.start_point[0], node.end_point
        if last > first and not self.lines[last][:column].strip():
            last -= 1
            while last > first and not self.lines[last].strip():
                last -= 1
        return first + 1, last + 1

    def _owns_line(self, node: Node) -> bool:
        row, column = node.start_point
        return not self.lines[row][:column].strip()

    def _has_words(self, line: int) -> bool:
        return any(byte > 127 or chr(byte).isalnum() for byte in self.lines[line - 1])
