"""Call sites of source files, and the text at a call's target, without any use of the graph.

A site is a name right before an opening parenthesis (type arguments and Rust's `!` may be between),
or after `new`; the names of definitions are none.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tree_sitter import Node, Point, Tree

from cortex.graph.facts.repairs.misread_lines import join_broken_lines
from cortex.indexer.syntax.parse import syntax_tree, without_marks
from cortex.indexer.syntax.source import Source, decode
from cortex.terms.languages import sniff
from cortex.terms.paths import is_built, is_foreign

#: leaves that are read between the angle brackets of type arguments
ARGUMENTS_MAX = 40
#: folders that hold third-party code, or a checker's output
_SKIPPED = frozenset({"node_modules", ".git", "target", "vendor", "dist", "build", ".codegraph", ".venv"})
_DEFINES = re.compile(r"function|method|class|struct|interface|constructor|trait|enum|record|macro|preproc_")
_CALLS = re.compile(r"declarator|call|invocation")
_ABSTRACT = re.compile(r"interface|trait|protocol|method_signature|abstract|method_elem|method_spec")
_FUNCTIONS = re.compile(r"arrow_function|function_expression|generator_function|^function$|^class$")
_HOLDER_NODES = frozenset(
    ("property_element", "variable_declarator", "public_field_definition", "property_signature")
)
#: C++: `Disk::save`, `~Disk` and `save<int>`
_NAME_PARTS = frozenset({"qualified_identifier", "destructor_name", "template_function", "template_method"})
#: C++'s words that look like names of called templates
_CASTS = frozenset({b"static_cast", b"dynamic_cast", b"reinterpret_cast", b"const_cast"})
_FIELDS = re.compile(r"field|property|^pair$")
#: holders of called values: `other` has patterns, and files that were not read
HOLDERS = ("parameter", "variable", "field", "other")
_REQUIRES = re.compile(rb"(?:await\s+)?(?:require|import)\s*\(")

#: (path below the root, line from 1, column in bytes)
Site = tuple[str, int, int]
Place = tuple[str, int]


@dataclass(frozen=True)
class File:
    """A source file that parses. `language` is the index's name for it."""

    path: str
    language: str
    source: Source
    tree: Tree
    raw: bytes

    @functools.cached_property
    def lines(self) -> list[bytes]:
        return self.raw.split(b"\n")


def read(root: Path, path: str) -> File | None:
    try:
        raw = (root / path).read_bytes()
    except OSError:
        return None
    source = decode(path, raw)
    if not isinstance(source, Source) or not source.lines:
        return None
    language = sniff(path, source.lines)
    if language.grammar is None:
        return None
    if language.name == "kotlin":  # without it, whole classes fall apart in the grammar
        source = dataclasses.replace(source, lines=tuple(join_broken_lines(source.lines)))
    return File(path, language.name, source, syntax_tree(source, language)[1], raw)


def files_of(root: Path, languages: Sequence[str]) -> Iterator[File]:
    """Yield all files of a project in `languages`, in the order of their paths, as the index has
    them.
    """
    for place in sorted(root.rglob("*")):
        path = place.relative_to(root).as_posix()
        if _SKIPPED & set(place.relative_to(root).parts):
            continue
        if place.is_file() and (file := read(root, path)) is not None and file.language in languages:
            yield file


def is_own(file: File) -> bool:
    """True for a file that is written in the project; the sites of others are not judged."""
    return not is_foreign(file.path) and not is_built(file.path)


def sites_of(file: File, *, bare: bool = False) -> list[Site]:
    """Return the sites of a file; with `bare` names without parentheses, too: Ruby's, and Kotlin's
    before a block and between two operands.
    """
    leaves = list(_leaves(file.tree.root_node))
    declared = _names_behind_macros(file)
    without_parentheses = _names_before_blocks(file) if bare and file.language == "kotlin" else ()
    sites = []
    for at, leaf in enumerate(leaves[:-1]):
        text = leaf.text or b""
        if not (text[:1].isalpha() or text[:1] in b"_$") or not is_name(leaf) or _is_defined(leaf):
            continue
        if text in _CASTS or leaf.start_point in declared:
            continue
        # Of `new Node\Expr()` only the last name.
        after = [following.text for following in leaves[at + 1 : at + 2]]
        is_new = at > 0 and leaves[at - 1].text == b"new" and after not in ([b"\\"], [b"."], [b"::"])
        is_bare = leaf.start_point in without_parentheses or (
            bare and file.language != "kotlin" and leaf.type == "identifier"
        )
        if is_new or is_bare or _opens(leaves, at + 1):
            sites.append((file.path, leaf.start_point[0] + 1, leaf.start_point[1]))
    return sites


def _names_before_blocks(file: File) -> set[Point]:
    """Return the places of the names of Kotlin's calls `use { … }` and `disk store size`."""
    places = set()
    pending = [file.tree.root_node]
    while pending:
        node = pending.pop()
        pending.extend(node.named_children)
        name: Node | None = None
        if node.type == "infix_expression" and node.named_child_count > 1:
            name = node.named_children[1]
        elif node.type == "call_expression" and node.named_children[-1].type == "annotated_lambda":
            name = node.named_children[0]
            while name.type == "navigation_expression":
                name = name.named_children[-1]
        if name is not None and is_name(name):
            places.add(name.start_point)
    return places


def _names_behind_macros(file: File) -> set[Point]:
    """Return the places of names that C++ declares and its grammar takes for calls, behind macros
    and in branches of `#if`: `class SHOP_API Disk { Disk(int n); };`.
    """
    if file.language != "cpp" or not file.tree.root_node.has_error:
        return set()
    language = sniff(file.path, file.source.lines)
    tree = syntax_tree(without_marks(file.source, language), language)[1]
    return {leaf.start_point for leaf in _leaves(tree.root_node) if is_name(leaf) and _is_defined(leaf)}


def _leaves(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type in ("comment", "line_comment", "block_comment", "string", "string_literal"):
            continue
        if node.child_count:
            pending.extend(reversed(node.children))
        else:
            yield node


def is_name(leaf: Node) -> bool:
    return leaf.is_named and ("identifier" in leaf.type or leaf.type in ("name", "constant"))


def _opens(leaves: Sequence[Node], at: int) -> bool:
    if leaves[at].text in (b"!", b"?.", b"::") and at + 1 < len(leaves):
        at += 1
    if leaves[at].text != b"<":
        return leaves[at].text == b"("
    depth = 0
    for n in range(at, min(len(leaves) - 1, at + ARGUMENTS_MAX)):
        text = leaves[n].text or b""
        depth += (text == b"<") - text.count(b">") * (set(text) == {ord(">")})
        if depth == 0:
            return leaves[n + 1].text == b"("
        if text in (b";", b"{", b"&&", b"||"):
            return False
    return False


def _is_defined(leaf: Node) -> bool:
    """Return whether `leaf` is the name of a definition around it."""
    node = leaf
    while (parent := node.parent) is not None:
        if parent.type == "field_initializer":  # C++: `Disk() : size_(0) {}`
            return True
        if parent.type == "destructor_name" and (
            parent.parent is None or parent.parent.type != "field_expression"
        ):
            return True
        if parent.type in _NAME_PARTS:
            node = parent
            continue
        field = next((parent.field_name_for_child(n) for n, c in enumerate(parent.children) if c == node), "")
        if field in ("name", "declarator") and not _CALLS.search(parent.type):
            return _DEFINES.search(parent.type) is not None or "declaration" in parent.type
        if (
            field != "declarator"
            and "declarator" not in parent.type
            and parent.type != "qualified_identifier"
        ):
            return False
        node = parent
    return False


def name_position(file: File, line: int, column: int) -> tuple[int, int]:
    """Return the position of the name of the definition that begins there.

    Some references return the beginning, with its comment or modifiers. A position that is no such
    beginning stays.
    """
    leaf = file.tree.root_node.descendant_for_point_range((line - 1, column), (line - 1, column + 1))
    if leaf is None or leaf.start_point != (line - 1, column) or is_name(leaf):
        return line, column
    node: Node | None = leaf
    while node is not None and "comment" in node.type:
        node = node.next_named_sibling
    while node is not None:
        name = node.child_by_field_name("name")
        if name is not None and _DEFINES.search(node.type) and not _CALLS.search(node.type):
            return name.start_point[0] + 1, name.start_point[1]
        parent = node.parent
        node = parent if parent is not None and parent.start_point == node.start_point else None
    return line, column


def is_callee(file: File, line: int, column: int) -> bool:
    """Return True for the name of a call in C."""
    leaf = file.tree.root_node.descendant_for_point_range((line - 1, column), (line - 1, column + 1))
    around = leaf.parent if leaf is not None else None
    return (
        around is not None
        and around.type == "call_expression"
        and around.child_by_field_name("function") == leaf
        and file.language == "c"
    )


def kind_at(file: File, line: int, column: int) -> str:
    """Return the kind of the target's text.

    `static`: a definition with a name; `dispatch`: a member of an interface; `value`: the holder of
    a called value (`holder_at`); `import`: the reference got no further, as it cannot read the
    imported code.
    """
    kind = holder_at(file, line, column)
    return "value" if kind in HOLDERS else kind


#: C++'s `using std::setw;`, beyond which a reference goes if the project has the definition
_IMPORTS = frozenset({"using_declaration"})
#: languages with fields in a `field_declaration` of their own; that of a method has a declarator
_FIELD_FILES = frozenset({"go", "c", "cpp"})


def holder_at(file: File, line: int, column: int) -> str:
    """Return the holder of a called value, one of HOLDERS; the kind of other targets."""
    leaf = file.tree.root_node.descendant_for_point_range((line - 1, column), (line - 1, column + 1))
    node = leaf
    for _ in range(5):
        parent = node.parent if node is not None else None
        if node is None or parent is None:
            return "other"
        value = parent.child_by_field_name("value") or parent.child_by_field_name("right")
        if (
            parent.type in _IMPORTS
            or "import" in parent.type
            or (value is not None and _REQUIRES.match(value.text or b""))
        ):
            return "import"
        if value is not None and value != node:
            return "static" if _FUNCTIONS.search(value.type) else _holder(parent)
        if parent.type in _HOLDER_NODES or (
            parent.type == "field_declaration" and file.language in _FIELD_FILES
        ):
            return _holder(parent)
        if parent.type == "function_declarator" and _holds_object(parent):
            return "field" if _FIELDS.search(leaf.type if leaf is not None else "") else "variable"
        if "parameter" in parent.type and "type_parameter" not in parent.type:
            return "parameter"
        if _DEFINES.search(parent.type) and "body" not in parent.type and parent.type != "macro_invocation":
            return "dispatch" if _is_abstract(parent) else "static"
        if parent.type in ("type_spec", "type_alias", "type_alias_declaration", "type_definition"):
            return "static"
        node = parent
    return "other"


def _holds_object(declarator: Node) -> bool:
    """Return True for `Disk disk(1);` in a function and `void (*save)(int);`, which C and C++
    declare like functions.
    """
    name, declaration = declarator.child_by_field_name("declarator"), declarator.parent
    if name is not None and name.type == "parenthesized_declarator":
        return name.named_child_count > 0 and name.named_children[0].type == "pointer_declarator"
    around = declaration.parent if declaration is not None else None
    return (
        around is not None
        and declaration is not None
        and declaration.type == "declaration"
        and around.type in ("compound_statement", "case_statement")
    )


def _holder(node: Node) -> str:
    return "field" if _FIELDS.search(node.type) else "variable"


def _is_abstract(node: Node) -> bool:
    if "signature" in node.type or node.type in ("method_elem", "method_spec"):
        return True
    if node.child_by_field_name("body") is not None:
        return False
    while (node := node.parent) is not None:  # type: ignore[assignment]
        if _ABSTRACT.search(node.type):
            return True
        if node.type in ("program", "source_file", "class_declaration", "translation_unit"):
            return False
    return False
