"""Rust."""

from cortex.graph.facts.expressions.operators import ELEMENT
from cortex.graph.facts.expressions.results import rust_value
from cortex.graph.facts.facts import Import, Reference
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_rust
from cortex.graph.languages.defaults import read_names
from cortex.graph.resolution.calling.calls import Calls
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import Value, Values
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.languages import family_of

_ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem"}
_ARITHMETIC |= {"&": "bitand", "|": "bitor", "^": "bitxor", "<<": "shl", ">>": "shr"}
#: operator → the method that it calls
_OPERATORS = {**_ARITHMETIC, ELEMENT: "index"}
_OPERATORS |= {f"{sign}=": f"{name}_assign" for sign, name in _ARITHMETIC.items()}
#: methods of Option, Result, Rc and similar types, which types.py replaces by their content
_UNWRAPS = frozenset(
    {"unwrap", "expect", "clone", "as_ref", "as_mut", "borrow", "borrow_mut", "lock", "unwrap_or_default"}
)


def submodule(project: Project, key: str, name: str) -> str:
    """Return the key of a module inside a file, or of a file's child."""
    return f"{key}|{name}" if project.has_scope(key, name) else project.rust.child(key, name)


def imported_module(project: Project, statement: Import, path: str, _key: str) -> str:
    """Return the key of a module that is imported by its name; none for a macro's name."""
    key = project.find_module(f"{statement.module}.{statement.member}", path)
    file, bar, inner = key.partition("|")
    exists = not bar or project.has_scope(file, inner) or inner in project.index(file).inner_imports
    return key if exists else ""


def deref_member(members: Members, value: Value, name: str) -> Values:
    """Return a member of the type that `deref` returns."""
    return members.deref_members(value, name) if value.tag == "inst" else ()


def unwrapped(_members: Members, value: Value, name: str) -> Values:
    """Return a getter of the value itself for a method that unwraps it."""
    return (Value("elem", value.path, value.at, 1),) if value.tag == "inst" and name in _UNWRAPS else ()


def methods_of_crate(calls: Calls, _reference: Reference, refs: list[Ref]) -> list[Ref]:
    """Return the methods of the caller's crate; all if it has none."""
    root = calls.project.rust.root
    return [ref for ref in refs if root(ref[0]) == root(calls.path)] or refs


RUST = Language(
    "rust",
    rules=Rules(
        family_of("rust"),
        (".rs",),
        functions_by_path=True,
        numbered_fields=True,
        bounded_fields=True,
        fields_beside_methods=True,
        derefs=True,
        twins=True,
        library_methods=read_names(__package__, "methods"),
        macro_mark="!",
        bound_after_value=True,
        inner_modules=True,
        self_names=frozenset({"self"}),
        super_names=frozenset(),
        type_names=frozenset({"Self"}),
        open_types=True,
    ),
    syntax=Syntax(
        package=__package__,
        queries=("rust",),
        imports=read_rust,
        value_of_name=rust_value,
        names=frozenset(
            "identifier type_identifier field_identifier self super crate shorthand_field_identifier".split()
        ),
        members={
            "field_expression": ("value", "field"),
            "scoped_identifier": ("path", "name"),
            "scoped_type_identifier": ("path", "name"),
        },
        calls={"call_expression": "function"},
        news={"struct_expression": "name"},
        elements={"index_expression": "0"},
        wraps={
            "parenthesized_expression": "",
            "await_expression": "",
            "try_expression": "",
            "unsafe_block": "",
            "reference_expression": "value",
            "unary_expression": "",
            "generic_function": "function",
            "generic_type": "type",
            "bracketed_type": "",
            "qualified_type": "type",
        },
        casts={"type_cast_expression": "type"},
        operators=_OPERATORS,
        passes=frozenset(
            "Some Ok Box.new Rc.new Arc.new Pin.new Mutex.new RwLock.new RefCell.new Cow.Borrowed Cow.Owned "
            "ManuallyDrop.new Box.pin Arc.clone Rc.clone".split()
        ),
        literals=frozenset(
            {"string_literal", "integer_literal", "float_literal", "boolean_literal", "closure_expression"}
        ),
    ),
    find_module=lambda project, module, importer: project.rust.find(module, importer),
    submodule=submodule,
    import_last=imported_module,
    missing_member=(deref_member, unwrapped),
    methods_by_name=(methods_of_crate,),
)
