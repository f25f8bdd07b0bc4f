"""Rules and readers that several languages share."""

from importlib import resources

from tree_sitter import Node

from cortex.graph.facts.facts import DEFAULT
from cortex.graph.facts.grammars import Rules
from cortex.terms.languages import family_of

#: rules of Java, Kotlin and Scala
JVM = Rules(
    family_of("java"),
    (),
    types_in_one_file=True,
    fields_beside_methods=True,
    inherits_overloads=True,
    default_arguments=True,
    qualified_names=True,
    implicit_self=True,
    shared="package",
    overloads=True,
    type_arguments=True,
    blocks=True,
    renamed_calls=frozenset({"copy"}),
)


def read_names(package: str, list_name: str) -> frozenset[str]:
    """Return the names in `<list_name>.txt` beside the queries of `package`; # begins a comment."""
    text = resources.files(package).joinpath(f"{list_name}.txt").read_text("utf-8")
    return frozenset(name for line in text.splitlines() if not line.startswith("#") for name in line.split())


def with_default(name: Node, declared: str) -> str:
    """Return a parameter's type, with the mark of a default: `save(disk: Disk = first)`."""
    parameter = name.parent
    if parameter is None:
        return declared
    after = parameter.next_sibling
    has_default = any(child.type == "=" for child in parameter.children)
    return f"{declared}{DEFAULT}" if has_default or (after is not None and after.type == "=") else declared
