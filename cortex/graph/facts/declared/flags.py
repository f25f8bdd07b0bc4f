"""Decorators and modifiers of definitions that resolution reads."""

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of, text_of
from cortex.graph.facts.expressions.labels import labels_flag
from cortex.graph.facts.facts import (
    BOUND,
    BRANCH,
    CALLED,
    COMPANION,
    DECORATED,
    EXPLICIT,
    FREE,
    GENERIC,
    OUTER,
    OVERLOAD,
    PLATFORM,
    RUN,
    TESTED,
    YIELDING,
)
from cortex.graph.facts.grammars import Syntax

#: modifiers that resolution reads
FLAGS = frozenset(
    {"staticmethod", "classmethod", "property", "cached_property", OVERLOAD, "abstractmethod", "static"}
    | YIELDING
)
#: a script's functions without a body: overload signatures of the implementation that follows
_SIGNATURES = frozenset({"function_signature", "method_signature", "abstract_method_signature"})
#: methods of a script, and the flags of accessors, as Python names them
_METHODS = frozenset({"method_definition", "method_signature", "abstract_method_signature"})
_ACCESSORS = {"get": "property", "set": "setter"}
#: Kotlin's annotations of functions that a framework runs, and of those that no code can call
_TESTS = frozenset({b"@Test", b"@ParameterizedTest"})
_HIDDEN = b"DeprecationLevel.HIDDEN"
#: letters of type parameters' names that need no flag
TYPE_LETTERS_MAX = 2
#: nodes that decide in Ruby whose method a definition is
_RUBY_SCOPES = frozenset("class module singleton_class method singleton_method".split())
#: branches of conditions, in which definitions may be alternatives, and their bodies (Python, Ruby)
_BRANCHES = frozenset(
    "if_statement elif_clause else_clause try_statement except_clause if elsif unless case when".split()
)
_BODIES = frozenset({"block", "then", "else"})


def flags_of(node: Node, syntax: Syntax) -> tuple[str, ...]:
    parent = node.parent
    if parent is not None and parent.type == "decorated_definition":
        texts = [text_of(child).lstrip("@") for child in parent.named_children if child.type == "decorator"]
        names = [text.partition("(")[0].rpartition(".")[2] for text in texts]
        known_flags = tuple(name for name in names if name in FLAGS or name == "setter")
        return (
            *(known_flags or (f"{DECORATED}{chain}" for chain in _decorator_chains(parent, syntax)[:1])),
            *_branch_flag(parent),
        )
    children = node.children  # each access makes the list anew
    types = {child.type for child in children}
    flags = {"static"} & types | set(_branch_flag(node))
    if node.type in _METHODS:
        flags |= {_ACCESSORS[kind] for kind in types if kind in _ACCESSORS}
    if node.type in _SIGNATURES:
        flags.add(OVERLOAD)
    elif node.type == "call_signature":
        flags |= {OVERLOAD, CALLED}
    elif node.type == "function_type":
        is_overloaded = parent is not None and parent.type == "parenthesized_type"  # `(() => A) & (() => B)`
        flags |= {CALLED, OVERLOAD} if is_overloaded else {CALLED}
    if _is_singleton(node) or _is_in_companion(node):
        flags.add("static")
    if node.type == "property_declaration" and node.child_by_field_name("computed_value") is not None:
        flags.add("property")
    if node.type in ("preproc_function_def", "macro_definition"):
        flags.add("macro")
    elif node.type in ("object_definition", "package_object"):  # Scala
        flags.add(COMPANION)
    elif "storage_class_specifier" in types and any(
        child.type == "storage_class_specifier" and child.text == b"static" for child in children
    ):
        flags.add("static")
    parameters = node.child_by_field_name("parameters") if node.type == "method_declaration" else None
    for first in parameters.named_children[:1] if parameters is not None else ():
        if any(child.type == "modifier" and child.text == b"this" for child in first.children):
            flags.add("extension")  # C#
    if "explicit_interface_specifier" in types:
        flags.add(EXPLICIT)
    for clause in children if "type_parameter_list" in types else ():
        if clause.type == "type_parameter_list" and (text := text_of(clause)).startswith(GENERIC):  # C#
            flags.add(GENERIC + text.strip("<>").replace(" ", ""))
    return (*sorted(flags), *labels_flag(node))


def _branch_flag(node: Node) -> tuple[str, ...]:
    """Return BRANCH for a definition directly in a branch of a condition (Python, Ruby)."""
    block = node.parent
    around = block.parent if block is not None and block.type in _BODIES else None
    return (BRANCH,) if around is not None and around.type in _BRANCHES else ()


def _is_singleton(node: Node) -> bool:
    """Return True for a Ruby method of the class itself: `def self.x`, `class << self`,
    `define_singleton_method(:x)`.
    """
    if node.type not in ("method", "call", "heredoc_body"):
        return node.type == "singleton_method"
    method = node.child_by_field_name("method")
    return (method is not None and text_of(method) == "define_singleton_method") or is_of_class_itself(node)


def is_of_class_itself(node: Node) -> bool:
    """Return True for what stands in Ruby's `class << self`."""
    around = node.parent
    while around is not None and around.type not in _RUBY_SCOPES:
        around = around.parent
    return around is not None and around.type == "singleton_class"


def _is_in_companion(node: Node) -> bool:
    """Return True for a Kotlin function that belongs to its class and not to its instances."""
    body = node.parent if node.type == "function_declaration" else None
    around = body.parent if body is not None else None
    return around is not None and around.type == "companion_object"


def platform_flags(node: Node) -> tuple[str, ...]:
    """Return the flags of Kotlin's `expect` and `actual` definitions, of tests, and of hidden
    functions.
    """
    modifiers = next((child for child in node.children if child.type == "modifiers"), None)
    flags = set()
    for modifier in modifiers.children if modifiers is not None else ():
        if modifier.type == "platform_modifier":
            flags.add(PLATFORM)
        elif modifier.type == "annotation":
            if modifier.text in _TESTS:
                flags.add(RUN)
            elif _HIDDEN in (modifier.text or b""):
                flags.add(TESTED)
    return tuple(sorted(flags))


def kotlin_flags(function: Node, receiver: Node | None, scope: str) -> tuple[str, ...]:
    """Return the flags of a Kotlin function: its extension receiver and its type parameters.

    The receiver needs a flag if `scope`, its name, does not describe it: a type parameter, or a
    generic type. Only long names of type parameters need one.
    """
    flags = platform_flags(function)
    type_parameters = next((node for node in function.children if node.type == "type_parameters"), None)
    bounds = {}
    for type_parameter in type_parameters.named_children if type_parameters is not None else ():
        texts = [
            text_of(child)
            for child in type_parameter.named_children
            if child.type != "type_parameter_modifiers"
        ]
        bounds[texts[0]] = texts[1] if len(texts) > 1 else ""
    free = (*flags, *(FREE + name for name in bounds if len(name) > TYPE_LETTERS_MAX))
    name = text_of(receiver).partition("<")[0].strip("?() ") if receiver is not None else ""
    if name in bounds:
        bound = bounds[name]
        for _ in bounds:  # `<C : Disk, T : C>`
            bound = bounds.get(bound, bound)
        return (BOUND + ("" if bound in bounds else bound), *free)
    last = name.rpartition(".")[2]
    return (OUTER + last, *free) if last and last != scope.rpartition(".")[2] else free


def fixture_name(node: Node) -> str:
    """Return the name of a pytest fixture set by its decorator: `@pytest.fixture(name="disk")`."""
    for decorator in node.parent.named_children if node.parent is not None else ():
        call = decorator.named_child(0) if decorator.type == "decorator" else None
        arguments = call.child_by_field_name("arguments") if call is not None else None
        for argument in arguments.named_children if arguments is not None else ():
            name, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
            if name is not None and name.text == b"name" and value is not None and value.type == "string":
                return text_of(value).strip("\"'")
    return ""


def _decorator_chains(node: Node, syntax: Syntax) -> list[str]:
    """Return the known chains of a Python definition's decorators, the outermost first."""
    chains = [chain_of(child.named_child(0), syntax) for child in node.children if child.type == "decorator"]
    return [chain for chain in chains if UNKNOWN not in chain and LITERAL not in chain]
