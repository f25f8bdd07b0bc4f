"""C++'s pointers, arguments and parameters in the syntax tree."""

import re

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import (
    ADDRESS,
    MOVED,
    POINTED,
    ROOT_MARK,
    UNKNOWN,
    chain_of,
    child_of,
    text_of,
)
from cortex.graph.facts.expressions.operators import ELEMENT, SET_ELEMENT
from cortex.graph.facts.facts import CONSTANT, CONSTANT_OBJECT, DEFAULT, EXCLUDING, GENERIC, MANY, VARYING
from cortex.graph.facts.grammars import Syntax
from cortex.graph.resolution.types.conversions import MACRO_TEXT, WIDE_TEXT

POINTERS = frozenset({"pointer_declarator", "array_declarator"})
#: operators, and the functions that they call
OPERATORS = {sign: f"operator{sign}" for sign in "+ - * / % == != < > <= >= & | ^ << >>".split()}
OPERATORS |= {f"{sign}=": f"operator{sign}=" for sign in "+-*/"}
OPERATORS |= {ELEMENT: "operator[]", SET_ELEMENT: "operator[]"}
OPERATORS |= {f"{sign}_": f"operator{sign}" for sign in "- + ! ~ * ++ --".split()}
OPERATORS |= {"_++": "operator++", "_--": "operator--", "not_": "operator!"}
#: smart pointers of C++'s library and types like them, and those of their members that return
#: what they hold, and all
POINTER_TYPES = frozenset(
    "unique_ptr shared_ptr weak_ptr optional reference_wrapper scoped_ptr intrusive_ptr"
    " QPointer QScopedPointer QSharedPointer QWeakPointer".split()
)
HELD_BY = frozenset({"get", "lock", "value", "data", "take", "toStrongRef"})
POINTER_MEMBERS = HELD_BY | {
    "isNull",
    "reset",
    "release",
    "swap",
    "emplace",
    "expired",
    "use_count",
    "has_value",
    "value_or",
}
_REFERENCES = frozenset({"reference_declarator", "abstract_reference_declarator"})
#: a type parameter that has to be constant, or must not be: `!std::is_const<T>::value`; another
#: name for one, `typename Written = T`
_CONSTANT_TEST = re.compile(
    r"\b(?:std::)?is_const(?:_v)?<\s*(?:typename\s+)?(?:(?:std::)?remove_reference(?:_t)?<\s*)?(\w+)"
)
_RENAMED = re.compile(r"(?:typename|class)\s+(\w+)\s*=\s*(\w+)\s*[,>]")
#: characters of a template's head, the parameters, in which tests are looked for
HEAD_MAX = 4000
#: branches of the preprocessor, and those after the first; characters of a condition, and its
#: branches that are told apart (each is a node inside the one before)
_OTHER_BRANCHES = frozenset({"preproc_else", "preproc_elif", "preproc_elifdef"})
_BRANCHES = _OTHER_BRANCHES | {"preproc_if", "preproc_ifdef"}
CONDITION_MAX, BRANCHES_MAX = 80, 8
_TEXTS = frozenset({"string_literal", "concatenated_string", "raw_string_literal"})
#: the second is that of `operator bool() const`
_FUNCTIONS = frozenset({"function_declarator", "abstract_function_declarator"})
_ALIASES = frozenset({"alias_declaration", "type_definition"})
_WITH_RESULTS = frozenset({"function_definition", "field_declaration", "declaration"})
#: follows a function's parameters where it takes further arguments
ANYTHING_MORE = "..."


def template_flags(node: Node, _owner: Node | None, _scope: str) -> tuple[str, ...]:
    """Return the flags of a template, with the names of its parameters, of a method that constant
    objects have, and of a definition in a branch of a condition; () for others.
    """
    parameters, around = _template_parameters(node), node.parent
    flags: tuple[str, ...] = (CONSTANT_OBJECT,) if _is_constant(node) else ()
    if parameters and around is not None:
        flags = (*flags, GENERIC + ",".join(map(_parameter_name, parameters)), *_constant_flags(around))
    around = around.parent if parameters and around is not None else around
    return (*flags, *_branch_flag(around)) if around is not None and around.type in _BRANCHES else flags


def _is_constant(node: Node) -> bool:
    """Return True for a method that constant objects have, and another name for a constant type."""
    if node.type in _ALIASES:
        holder = node.child_by_field_name("type") if node.type == "alias_declaration" else node
    else:
        holder = node.child_by_field_name("declarator") if node.type in _WITH_RESULTS else None
        while holder is not None and holder.type not in _FUNCTIONS:
            inner = (child for child in holder.named_children if child.type.endswith("declarator"))
            holder = holder.child_by_field_name("declarator") or next(inner, None)
    if holder is None:
        return False
    return any(child.type == "type_qualifier" and child.text == b"const" for child in holder.named_children)


def _constant_flags(template: Node) -> tuple[str, ...]:
    """Return a flag for each type parameter that has to be constant, or must not be."""
    parameters = template.child_by_field_name("parameters")
    head = text_of(parameters) if parameters is not None else ""
    if "is_const" not in head or len(head) > HEAD_MAX:
        return ()
    names = dict(_RENAMED.findall(head))
    flags = dict[str, None]()
    for test in _CONSTANT_TEST.finditer(head):
        mark = VARYING if head[: test.start()].rstrip()[-1:] == "!" else CONSTANT
        flags[f"{mark}{names.get(test[1], test[1])}"] = None
    return tuple(flags)


def _branch_flag(branch: Node) -> tuple[str, ...]:
    """Return the condition and the number of a branch; () for a condition's only branch, and for
    those after `BRANCHES_MAX`.
    """
    number, condition = 0, branch
    while condition.type in _OTHER_BRANCHES and condition.parent is not None:
        if number == BRANCHES_MAX:
            return ()
        number, condition = number + 1, condition.parent
    if not number and condition.child_by_field_name("alternative") is None:
        return ()
    test = condition.child_by_field_name("condition") or condition.child_by_field_name("name")
    return (f"{EXCLUDING}{text_of(test)[:CONDITION_MAX] if test is not None else ''} {number}",)


def result_type(node: Node) -> str:
    """Return a result's type; of `template <class T = Disk> T *make()` the default, `Disk`."""
    text = text_of(node)
    function = node.parent
    while function is not None and function.type not in _WITH_RESULTS:
        function = function.parent
    for parameter in _template_parameters(function) if function is not None else ():
        default = parameter.child_by_field_name("default_type")
        if default is not None and _parameter_name(parameter) == text:
            return text_of(default)
    return text


def _template_parameters(node: Node) -> list[Node]:
    template = node.parent
    if template is None or template.type != "template_declaration":
        return []
    parameters = template.child_by_field_name("parameters")
    return [child for child in parameters.named_children if child.type != "comment"] if parameters else []


def _parameter_name(parameter: Node) -> str:
    """Return the name of a template's parameter, `_` without one."""
    if parameter.type == "template_template_parameter_declaration":
        parameter = parameter.named_children[-1]
    name = parameter.child_by_field_name("name") or parameter.child_by_field_name("declarator")
    if name is None and "type_parameter" in parameter.type and parameter.named_child_count:
        name = parameter.named_child(0)
    return text_of(name).lstrip(".& *") if name is not None else "_"


def pointee_chain(node: Node, syntax: Syntax, depth: int) -> str | None:
    """Return the chain of `*x`; None for `&x`."""
    if node.children[0].type != "*":
        return None
    return f"{chain_of(child_of(node, 'argument'), syntax, depth + 1)}{POINTED}"


def macro_chain(node: Node, _syntax: Syntax, _depth: int) -> str:
    """Return the chain of a macro's text that is a name, `::shop::detail`."""
    text = text_of(node).strip().replace("::", ".")
    return ROOT_MARK + text[1:] if text[:1] == "." else text


def describe_argument(node: Node, syntax: Syntax, depth: int) -> str | None:
    """Return the type of a number by its ending, of a text, `TEXT("…")`, `int(x)` and `&x`."""
    if node.type == "number_literal":
        return f"#{_number_type(text_of(node).lower())}"
    if node.type in _TEXTS:
        return f"#{WIDE_TEXT}" if text_of(node)[0] in "LuU" else None
    if node.type == "call_expression":
        function = child_of(node, "function")
        if function is not None and function.type == "primitive_type":
            return f":{text_of(function)}"
        if (
            function is not None
            and function.type == "qualified_identifier"
            and text_of(function) == "std::move"
        ):
            chain = chain_of(node, syntax, depth)
            return chain + MOVED if chain != UNKNOWN and chain[-1] != ")" else chain
        return f"#{MACRO_TEXT}" if _is_text_macro(node) else None
    if node.type == "pointer_expression" and node.children[0].type == "&":
        chain = chain_of(child_of(node, "argument"), syntax, depth + 1)
        return chain + ADDRESS if chain != UNKNOWN and chain[0] != "#" else UNKNOWN
    return None


def _is_text_macro(call: Node) -> bool:
    """Return True for a macro's call with a text as its only argument."""
    name, arguments = child_of(call, "function"), child_of(call, "arguments")
    if name is None or arguments is None or name.type != "identifier" or arguments.named_child_count != 1:
        return False
    return arguments.named_children[0].type in _TEXTS and text_of(name).isupper()


def _number_type(text: str) -> str:
    if "." in text or ("e" in text and not text.startswith("0x")):
        return "float" if text.endswith("f") else "double"
    ending = text[-3:].lstrip("0123456789abcdefx'")
    words = ["unsigned"] * ("u" in ending) + ["long"] * (ending.count("l") or "z" in ending)
    return " ".join(words) or "int"


def parameter_type(name: Node, declared: str) -> str:
    """Return the type with the pointers of the declarator as stars, or with `&` of a reference that
    is not constant; `()` for a function.
    """
    node, stars = name, ""
    while node.parent is not None and "parameter" not in node.type:
        stars += "*" * (node.type in POINTERS) or "()" * (node.type == "function_declarator")
        node = node.parent
    if declared == ANYTHING_MORE or node.type == "variadic_parameter_declaration":
        return MANY + declared
    default = DEFAULT if node.type == "optional_parameter_declaration" else ""
    ending = "()" if "()" in stars else stars or _reference_mark(node)
    return f"{declared}{ending}{default}"


def _reference_mark(parameter: Node) -> str:
    """Return `&&`, or `&` of a reference to no constant; "" for other parameters."""
    text = parameter.text or b""
    if b"&" not in text:  # the usual case
        return ""
    declarator = parameter.child_by_field_name("declarator")
    if declarator is None or declarator.type not in _REFERENCES:
        return ""
    mark, before = declarator.children[0].type, declarator.start_byte - parameter.start_byte
    is_constant = b"const" in text[:before]
    return "" if is_constant else mark
