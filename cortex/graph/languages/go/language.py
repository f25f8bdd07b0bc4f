"""Go."""

from tree_sitter import Node

from cortex.graph.facts.declared.builds import builds_of
from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.facts.expressions.results import go_value, types_of
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_go
from cortex.graph.languages.defaults import read_names
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.modules.builds import built_with
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.languages import family_of

#: functions of the library that return a function with the results of the one they get
ONCE = frozenset({"sync.OnceFunc", "sync.OnceValue", "sync.OnceValues"})
_FUNCTION = "func("


def own_members(members: Members, owner: Ref, refs: list[Ref]) -> list[Ref]:
    return built_with(members.project, refs, owner[0])


def visible(project: Project, _evaluator: Evaluator, refs: list[Ref], path: str) -> list[Ref]:
    return built_with(project, refs, path) if len(refs) > 1 else refs


def once_chain(function: Node, _syntax: Syntax, _depth: int) -> str | None:
    """Return the type of a function without a name that one of `ONCE` gets; None for others."""
    call = function.parent.parent if function.parent is not None else None
    callee = call.child_by_field_name("function") if call is not None else None
    result = function.child_by_field_name("result")
    if callee is None or result is None or text_of(callee) not in ONCE:
        return None
    return f":{_FUNCTION}) {types_of(result)}"


def function_type(text: str) -> tuple[str, str]:
    """Return (a type, its result): `*Disk` of `func(n int) *Disk`, "" for other types."""
    if not text.startswith(_FUNCTION):
        return text, ""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == ")" and not depth:
            return text, text[at + 1 :].strip()
    return text, ""


GO = Language(
    "go",
    rules=Rules(
        family_of("go"),
        (".go",),
        platform_methods=read_names(__package__, "methods"),
        structural="exact",
        functions_as="type",
        conditional_files=True,
        types_in_one_file=True,
        twins=True,
        named_results=True,
        self_names=frozenset(),
        super_names=frozenset(),
        shared="folder",
    ),
    syntax=Syntax(
        package=__package__,
        queries=("go",),
        imports=read_go,
        value_of_name=go_value,
        result_type=types_of,
        builds=builds_of,
        names=frozenset({"identifier", "field_identifier", "type_identifier", "package_identifier"}),
        members={"selector_expression": ("operand", "field"), "qualified_type": ("package", "name")},
        calls={"call_expression": "function"},
        news={"composite_literal": "type"},
        makers={"new": 1, "make": 3},
        passes=ONCE,
        readers={"func_literal": once_chain},
        elements={"index_expression": "operand"},
        wraps={"parenthesized_expression": "", "unary_expression": "operand", "generic_type": "type"},
        casts={"type_assertion_expression": "type", "type_conversion_expression": "type"},
        literals=frozenset(
            "interpreted_string_literal raw_string_literal int_literal float_literal true false "
            "nil rune_literal func_literal binary_expression".split()
        ),
    ),
    find_module=lambda project, module, importer: project.go.find(module, importer),
    function_type=function_type,
    own_members=own_members,
    visible=visible,
)
