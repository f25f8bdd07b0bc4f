"""Swift's argument labels, which tell functions of one name apart: `save(to:)` and `save(from:)`.
Of no project.
"""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from cortex.graph.facts.chains import LITERAL, text_of
from cortex.graph.facts.facts import LABELS

_DEFINE = frozenset({"function_declaration", "protocol_function_declaration", "init_declaration"})
#: behind the label of a parameter that may be left out, and of one that stands for many
_OPTIONAL, _MANY = "=", "*"
#: a parameter's label, or an argument's, that is none
_NONE = "_"
#: what an argument of a name is told as, its own value left out; and one without
NAMED, BARE, BLOCK = f"={LITERAL}", LITERAL, f"{LITERAL}fn"


def labels_flag(function: Node) -> tuple[str, ...]:
    """The flag that holds the labels of a function of Swift; none for anything else."""
    if function.type not in _DEFINE or not any(child.type in ("func", "init") for child in function.children):
        return ()
    found = []
    for one in function.children:
        if one.type == "parameter":
            label = one.child_by_field_name("external_name") or one.child_by_field_name("name")
            after = one.next_sibling
            many = any(child.type == "..." for child in one.children) or (
                after is not None and after.type == "..."
            )
            given = after is not None and after.type == "="
            found.append((text_of(label) if label is not None else _NONE) + _OPTIONAL * given + _MANY * many)
    return (LABELS + ",".join(found),)


def labels_given(arguments: Sequence[Node], closures: int) -> tuple[str, ...]:
    """What a call of Swift passes, by its labels."""
    found = []
    for one in arguments:
        label = next((child for child in one.named_children if child.type == "value_argument_label"), None)
        found.append(BARE if label is None else text_of(label) + NAMED)
    return (*found, *(BLOCK,) * closures)


def accepts(flag: str, passed: Sequence[str]) -> bool:
    """Whether a function with those labels takes what is passed, in order."""
    wanted = [one for one in flag.removeprefix(LABELS).split(",") if one]
    at, many = 0, False
    for one in passed:
        if one == BLOCK:
            continue
        label = one.removesuffix(NAMED) if one != BARE else _NONE
        if many and label == _NONE:
            continue
        while at < len(wanted) and wanted[at].rstrip(_OPTIONAL + _MANY) != label:
            if wanted[at][-1] not in (_OPTIONAL, _MANY):
                return False
            at += 1
        if at == len(wanted):
            return False
        many = wanted[at].endswith(_MANY)
        at += 1
    rest, blocks = wanted[at:], sum(one == BLOCK for one in passed)
    needed = sum(one[-1] not in (_OPTIONAL, _MANY) for one in rest)
    return needed <= blocks <= len(rest)
