"""Argument labels of Swift, by which overloads differ: `save(to:)` and `save(from:)`. Of no
project.
"""

from collections.abc import Sequence

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import LITERAL, text_of
from cortex.graph.facts.facts import LABELS

_DEFINE = frozenset(
    {"function_declaration", "protocol_function_declaration", "init_declaration", "subscript_declaration"}
)
#: the words that begin them; of a subscript's parameter only a second name is a label
_SUBSCRIPT = "subscript"
_WORDS = frozenset({"func", "init", _SUBSCRIPT})
#: follow the label of a parameter with a default, and of a variadic one
_OPTIONAL, _MANY = "=", "*"
#: the label of a parameter or an argument without one
_NONE = "_"
#: stands for every label
ANY_LABEL = ""
#: marks of arguments, without their values: labelled, unlabelled, trailing closure
LABELLED, BARE, BLOCK = f"={LITERAL}", LITERAL, f"{LITERAL}fn"
#: the mark after the labels of a function that is named in full, `disk.save(to:quick:)`
NAMED = f"{LITERAL}:"


def labels_flag(function: Node) -> tuple[str, ...]:
    """Return the flag with the labels of a Swift function; () for other nodes."""
    if function.type not in _DEFINE or not any(child.type in _WORDS for child in function.children):
        return ()
    by_name = not function.type.startswith(_SUBSCRIPT)
    labels = []
    for parameter in function.children:
        if parameter.type == "parameter":
            label = parameter.child_by_field_name("external_name")
            label = parameter.child_by_field_name("name") if label is None and by_name else label
            after = parameter.next_sibling
            many = any(child.type == "..." for child in parameter.children) or (
                after is not None and after.type == "..."
            )
            has_default = after is not None and after.type == "="
            labels.append(
                (text_of(label) if label is not None else _NONE) + _OPTIONAL * has_default + _MANY * many
            )
    return (LABELS + ",".join(labels),)


def passed_labels(arguments: Sequence[Node], closures: int) -> tuple[str, ...]:
    """Return the labels of a Swift call's arguments, or of a function's full name."""
    labels = []
    named = arguments[0].children_by_field_name("reference_specifier") if len(arguments) == 1 else ()
    if named:
        return (*(BARE if label.text == b"_" else text_of(label) + LABELLED for label in named), NAMED)
    for argument in arguments:
        label = argument.child_by_field_name("name")
        labels.append(BARE if label is None else text_of(label) + LABELLED)
    return (*labels, *(BLOCK,) * closures)


def label_of(passed: str) -> str:
    """Return the label of an argument."""
    return passed.removesuffix(LABELLED) if passed not in (BARE, BLOCK) else _NONE


def first_labels(flags: Sequence[str]) -> list[str]:
    """Return the labels that the first argument of a function may have, in order."""
    labels: dict[str, None] = {}
    for entry in ",".join(flag.removeprefix(LABELS) for flag in flags if flag.startswith(LABELS)).split(","):
        if entry:
            labels[entry.rstrip(_OPTIONAL + _MANY)] = None
        if entry[-1:] not in (_OPTIONAL, _MANY):
            break
    return list(labels)


def accepts(flag: str, passed: Sequence[str]) -> bool:
    """Return True if a function with the labels in `flag` takes the arguments in `passed`, in
    order.
    """
    wanted = [entry for entry in flag.removeprefix(LABELS).split(",") if entry]
    if passed[-1:] == (NAMED,):
        return [*map(label_of, passed[:-1])] == [entry.rstrip(_OPTIONAL + _MANY) for entry in wanted]
    at, many = 0, False
    for argument in passed:
        if argument == BLOCK:
            continue
        label = label_of(argument)
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
    remaining, blocks = wanted[at:], sum(entry == BLOCK for entry in passed)
    needed = sum(entry[-1] not in (_OPTIONAL, _MANY) for entry in remaining)
    return needed <= blocks <= len(remaining)
