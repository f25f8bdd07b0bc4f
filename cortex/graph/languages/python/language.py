"""Python."""

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of, child_of, text_of, union_link
from cortex.graph.facts.expressions.results import python_value
from cortex.graph.facts.facts import Import
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_python
from cortex.graph.languages.defaults import read_names
from cortex.graph.resolution.evaluation.values import Value, Values
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.modules.exports import Exports
from cortex.terms.languages import family_of

_ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor", "<<": "lshift"}
_ARITHMETIC |= {"/": "truediv", "//": "floordiv", "%": "mod", "@": "matmul", "**": "pow", ">>": "rshift"}
#: operator → the method that it calls; not comparisons and elements: most
#: are of library types
_OPERATORS = {sign: f"__{name}__" for sign, name in _ARITHMETIC.items()}
_OPERATORS |= {f"{sign}=": f"__i{name}__" for sign, name in _ARITHMETIC.items()}
#: an assignment's method → the one that is called if a type lacks it
_FALLBACK_OPERATORS = {f"__i{name}__": f"__{name}__" for name in _ARITHMETIC.values()}


def _operator_chain(node: Node, syntax: Syntax, depth: int) -> str | None:
    """Return the result of `left & right`: of the left operand's method, else an outside value."""
    left, sign = child_of(node, "left"), child_of(node, "operator")
    chain, method = chain_of(left, syntax, depth + 1), _OPERATORS.get(text_of(sign)) if sign else None
    if method is None or chain[:1] in (UNKNOWN, LITERAL):
        return None
    return union_link([f"{chain}.{method}()", LITERAL])


def _import_module(exports: Exports, statement: Import, path: str, key: str, _hops: int) -> Values | None:
    """Return a module in another root of a name-space package; None if there is none."""
    if key and not key.endswith("/"):
        return None
    inner = exports.project.find_module(f"{statement.module}.{statement.member}", path)
    return (Value("mod", inner),) if inner else None


PYTHON = Language(
    "python",
    rules=Rules(
        family_of("python"),
        (".py",),
        fallback_operators=_FALLBACK_OPERATORS,
        platform_methods=read_names(__package__, "methods"),
        abstract_bases=frozenset({"Protocol", "ABC"}),
        types_are_values=True,
        split_packages=True,
        optional_imports=True,
        untyped_parameters=True,
        last_definition=True,
        ordered_bases=True,
        twins=True,
        untyped_twins=True,
        global_names=True,
        capital_constants=True,
        self_names=frozenset(),
        fixtures=True,
        first_parameter=True,
        functions_as="__call__",
    ),
    syntax=Syntax(
        package=__package__,
        queries=("python",),
        passes_first=True,
        casts_first=True,
        imports=read_python,
        value_of_name=python_value,
        members={"attribute": ("object", "attribute")},
        calls={"call": "function"},
        elements={"subscript": "value"},
        casters={"cast": "first"},
        passes=frozenset(
            "closing contextlib.closing aclosing contextlib.aclosing copy.copy copy.deepcopy deepcopy "
            "asyncio.run asyncio.wait_for asyncio.shield asyncio.create_task asyncio.ensure_future "
            ".run_until_complete .create_task".split()
        ),
        wraps={"parenthesized_expression": "", "await": "", "named_expression": "value"},
        either={"conditional_expression": ("0", "2"), "boolean_operator": ("left", "right")},
        operators=_OPERATORS,
        readers={"binary_operator": _operator_chain},
        reads_properties=True,
        literals=frozenset(
            "string concatenated_string integer float list dictionary set tuple true false none "
            "list_comprehension dictionary_comprehension set_comprehension lambda "
            "comparison_operator not_operator generator_expression binary_operator".split()
        ),
        hoisted=True,
    ),
    find_module=lambda project, module, importer: project.python.find(module, importer),
    submodule=lambda project, key, name: project.python.child(key, name),
    stub=lambda project, key: project.python.stub(key),
    import_first=_import_module,
    import_last=lambda project, statement, _path, key: project.python.child(key, statement.member),
    call_operator=lambda _project, values, value: values.member(value.ref, "__call__"),
)
