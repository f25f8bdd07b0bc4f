"""TypeScript, TSX and JavaScript."""

from dataclasses import replace

from tree_sitter import Node

from cortex.graph.facts.facts import CALLED
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_script
from cortex.graph.languages.defaults import read_names
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import ChainEvaluator, Value, Values
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.languages import family_of


def own_members(members: Members, owner: Ref, refs: list[Ref]) -> list[Ref]:
    """Return the members of a type, without functions nested in a class of its name."""
    project = members.project
    if project.definition(owner).kind == "module":
        return refs
    refs = [ref for ref in refs if project.definition(ref).kind != "function"]
    return project.inside_owner(owner, refs) if len(refs) > 1 else refs


def call_signatures(project: Project, values: ChainEvaluator, value: Value) -> Values:
    """Return the call signatures of an instance's type."""
    members = (member for member in values.member(value.ref, CALLED) if member.tag == "def")
    return tuple(member for member in members if CALLED in project.definition(member.ref).flags)


def parameter_type(name: Node, declared: str) -> str:
    """Return a parameter's type, with the mark of TypeScript's `...disks: Disk[]`."""
    is_rest = name.parent is not None and name.parent.type == "rest_pattern" and declared
    return f"...{declared}" if is_rest else declared


JAVASCRIPT = Language(
    "javascript",
    rules=Rules(
        family_of("typescript"),
        (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs"),
        scripts=True,
        types_are_values=True,
        erased_types=True,
        structural="name",
        whole_exports=True,
        declaration_files=True,
        constants_with_values=True,
        global_names=True,
        last_definition=True,
        kinds_of_methods=True,
        computed_members=True,
        any_arguments=True,
        named_twins=True,
        calling_methods=frozenset({"call", "apply"}),
        library_methods=read_names(__package__, "connections"),
        platform_methods=read_names(__package__, "methods"),
        members_of_values=True,
        public_parameters=True,
        functions_as=CALLED,
        renamed_calls=frozenset({"call", "apply", "default"}),
    ),
    syntax=Syntax(
        package=__package__,
        queries=("script", "javascript", "jsx"),
        values=("script", "javascript", "jsx"),
        jsdoc=True,
        requires=True,
        reads_properties=True,
        imports=read_script,
        parameter_type=parameter_type,
        names=frozenset(
            "identifier this super property_identifier private_property_identifier type_identifier "
            "undefined".split()
        ),
        members={"member_expression": ("object", "property")},
        calls={"call_expression": "function"},
        news={"new_expression": "constructor"},
        elements={"subscript_expression": "object"},
        wraps={
            "parenthesized_expression": "",
            "await_expression": "",
            "non_null_expression": "",
            "satisfies_expression": "",
            "assignment_expression": "right",
        },
        either={"ternary_expression": ("consequence", "alternative"), "binary_expression": ("left", "right")},
        literals=frozenset(
            "string template_string number array object regex true false null arrow_function".split()
        ),
    ),
    find_module=lambda project, module, importer: project.script.find(module, importer),
    own_members=own_members,
    call_operator=call_signatures,
)

TYPESCRIPT = replace(
    JAVASCRIPT,
    name="typescript",
    rules=replace(JAVASCRIPT.rules, merged_interfaces=True),
    syntax=replace(
        JAVASCRIPT.syntax,
        queries=("script", "typescript"),
        values=("script", "typescript"),
        jsdoc=False,
        wraps={**JAVASCRIPT.syntax.wraps, "type_query": ""},
        casts={"as_expression": "", "type_assertion": "0"},
    ),
)

TSX = replace(
    TYPESCRIPT,
    name="tsx",
    syntax=replace(
        TYPESCRIPT.syntax, queries=("script", "typescript", "jsx"), values=("script", "typescript", "jsx")
    ),
)
