"""PHP."""

from cortex.graph.facts.expressions.chains import ROOT_MARK, class_argument
from cortex.graph.facts.facts import Import
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_php
from cortex.graph.languages.defaults import read_names
from cortex.graph.languages.php.dispatching import (
    DISPATCHED,
    DISPATCHERS,
    HANDLE,
    SCOPE,
    by_convention,
    call_of_each_listener,
    dispatched_objects,
)
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import EXTERNAL, Value, Values
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.modules.exports import Exports
from cortex.graph.resolution.modules.package_names import name_space_below
from cortex.graph.resolution.project import Project
from cortex.terms.languages import family_of


def _import_name_space(exports: Exports, statement: Import, path: str, key: str, hops: int) -> Values | None:
    """Return the name space that an import names; None if it names a definition."""
    if key and exports.exported(key, statement.member, hops):
        return None
    name = f"{statement.module}.{statement.member}" if statement.module else statement.member
    project = exports.project
    key = name_space_below(project, f"{project.rules(path).family}:", name)
    return (Value("mod", key),) if key else (EXTERNAL,)


def _keys_around(project: Project, name: str, path: str, keys: list[str]) -> list[str]:
    """Return the key of a name in the file's own name space, before `keys`."""
    return keys if name[0] == ROOT_MARK else [name_space_below(project, project.home(path), name), *keys]


def _member_of_name_space(members: Members, value: Value, name: str) -> Values:
    r"""Return a name of the name space with a class's name: `Node\Expr` of the class `Node`."""
    if value.tag != "def":
        return ()
    project = members.project
    key = name_space_below(project, project.home(value.path), project.definition(value.ref).qualified)
    return members.exports.exported(key, name) if key else ()


PHP = Language(
    "php",
    rules=Rules(
        family_of("php"),
        (".php",),
        platform_methods=read_names(__package__, "methods"),
        types_in_one_file=True,
        fields_beside_methods=True,
        qualified_names=True,
        outer_packages="first",
        traits_first=True,
        twins=True,
        classes_as_spaces=True,
        path_mark="\\",
        renamed_calls=DISPATCHERS | {DISPATCHED},
        handlers=frozenset({HANDLE}),
        uncalled_prefix=SCOPE,
        self_names=frozenset({"$this"}),
        super_names=frozenset({"parent"}),
        shared="package",
        type_names=frozenset({"self", "static"}),
    ),
    syntax=Syntax(
        package=__package__,
        queries=("php",),
        imports=read_php,
        call_types=class_argument,
        dispatched=dispatched_objects,
        phpdoc=True,
        names=frozenset({"name", "variable_name", "relative_scope", "qualified_name", "namespace_name"}),
        members={
            "member_access_expression": ("object", "name"),
            "nullsafe_member_access_expression": ("object", "name"),
            "scoped_property_access_expression": ("scope", "name"),
        },
        methods={
            "member_call_expression": ("object", "name"),
            "nullsafe_member_call_expression": ("object", "name"),
            "scoped_call_expression": ("scope", "name"),
        },
        calls={"function_call_expression": "function"},
        news={"object_creation_expression": "0"},
        elements={"subscript_expression": "0"},
        wraps={"parenthesized_expression": "", "clone_expression": "", "assignment_expression": "right"},
        either={"conditional_expression": ("body", "alternative"), "binary_expression": ("left", "right")},
        literals=frozenset(
            {"string", "encapsed_string", "integer", "float", "boolean", "null", "array_creation_expression"}
        ),
        hoisted=True,
    ),
    import_first=_import_name_space,
    keys_around=_keys_around,
    missing_member=(_member_of_name_space, by_convention),
    called_member_values=(call_of_each_listener,),
)
