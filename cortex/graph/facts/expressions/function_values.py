"""Functions as values: names that are passed, assigned, returned or stored, as references of the
kind `value`; and bare names that call a method (Ruby). Of one file; resolution finds their targets.

Most names in such places are a function's local variables. They are left out here, and so are
expressions that cannot be a function: the facts would double otherwise.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

import msgspec
from tree_sitter import Language as Grammar
from tree_sitter import Node, Query, Tree

from cortex.graph.facts.captures import Captures, captures_of, query_of
from cortex.graph.facts.expressions.chains import chain_of, text_of
from cortex.graph.facts.expressions.given_functions import GivenFunctions
from cortex.graph.facts.facts import TYPE_ONLY, Binding, Facts, Reference
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.repairs.tokens import is_passed, path_before
from cortex.graph.facts.ruby import COMPUTED
from cortex.terms.kinds import TYPE_KINDS

#: links of the longest chain that may be a function: `app.views.index`
LINKS_MAX = 3
#: a member of names alone
PLAIN = re.compile(rb"[A-Za-z_][\w.]*")
#: a string that names a function: `save`, `App\save`, `App\Disk::save`
_CALLABLE = re.compile(r"\\?([A-Za-z_][\w\\]*)(?:::(\w+))?")


def with_values(
    tree: Tree, facts: Facts, spans: Sequence[tuple[int, int]], rules: Rules, syntax: Syntax
) -> Facts:
    """Return the facts with the references of kind `value`, in text order, and with the functions
    that are given where a type is wanted.

    `spans`: the bytes of each definition without its decorators.
    """
    text = tree.root_node.text or b""
    if syntax.values_hold and not any(mark in text for mark in syntax.values_hold):
        return facts  # a walk over the tree costs a tenth of the extraction
    captures = captures_of(tree.root_node, value_query(tree.language, syntax))
    if not captures:
        return facts
    file, calls = FileNames(facts, rules), list[Reference]()
    if bare_names := captures.get("bare"):
        called_at = {reference.at for reference in facts.references}
        starts = [(name.start_byte, name) for name in bare_names]
        names = [pair for pair in starts if pair[0] not in called_at]
        calls += _bare_calls(sorted(names), file, Scopes(spans))
    functions = GivenFunctions(facts.references, syntax) if rules.functions_as else None
    values = list(_value_references(captures, file, Scopes(spans), syntax, functions))
    references = functions.references() if functions is not None else facts.references
    return msgspec.structs.replace(facts, references=(*references, *calls, *values))


def _value_references(
    captures: Captures, file: FileNames, scopes: Scopes, syntax: Syntax, functions: GivenFunctions | None
) -> Iterator[Reference]:
    """Yield the references of kind `value`; add the functions to `functions`, unnamed ones too."""
    tokens = [token for token in captures.get("token", ()) if is_passed(token)]
    among_tokens = {token.start_byte for token in tokens}  # reading a node's surroundings is slow
    unnamed = captures.get("function", []) if functions is not None else []
    functions_at = {function.byte_range for function in unnamed}
    nodes, last_start = [*captures.get("value", ()), *tokens, *unnamed], -1
    for node in sorted(nodes, key=lambda candidate: (candidate.start_byte, -candidate.end_byte)):
        if functions is not None and node.byte_range in functions_at:
            functions.add(node, "", scopes.around(node.start_byte))
            continue
        if node.start_byte == last_start:
            continue  # two patterns matched it, or it begins the last one
        last_start = node.start_byte
        if last_start in among_tokens:
            chain, at = _plain_chain(path_before(node)), node
        else:
            chain, at = _mentioned_chain(node, syntax)
        if not chain or not file.may_mean(chain):
            continue
        scope = scopes.around(node.start_byte)
        if "." in chain or not file.is_local(chain, scope):
            row, column = at.start_point
            type_count = TYPE_ONLY if _is_constructor(node) else 0
            yield Reference("value", chain, scope, row + 1, column, node.start_byte, types=type_count)
            if functions is not None and not type_count:
                functions.add(node, chain, scope)


def value_query(grammar: Grammar, syntax: Syntax) -> Query:
    """Return the query of `with_values`."""
    return query_of(grammar, syntax.package, syntax.values or syntax.queries, "values")


def _bare_calls(names: Sequence[tuple[int, Node]], file: FileNames, scopes: Scopes) -> Iterator[Reference]:
    """Yield the calls among bare names and their first bytes; others are variables."""
    for at, node in names:
        name, scope = text_of(node), scopes.around(at)
        if not (file.is_variable(name, scope, at) or _names_method(node)):
            row, column = node.start_point
            yield Reference("call", name, scope, row + 1, column, at, 0)


def _names_method(node: Node) -> bool:
    """Return True for the name in Ruby's `save 1`."""
    around = node.parent
    return around is not None and around.type == "call" and around.child_by_field_name("method") == node


def _mentioned_chain(node: Node, syntax: Syntax) -> tuple[str, Node]:
    """Return (chain of a possible function, node of its last name); the chain is "" for others."""
    kind = node.type
    if kind == "identifier":  # the usual case
        text = text_of(node)
        return (text if text.isidentifier() else _plain_chain(text)), node
    if kind == "simple_symbol":  # Ruby: `before_action :load`
        return text_of(node).lstrip(":"), node
    if kind in ("string", "encapsed_string"):  # PHP: array_map('App\save', …), 'Disk::save'
        return _callable_chain(text_of(node)), node
    if kind in ("method_reference", "callable_reference"):  # `Disk::save`, `::save`
        parts = node.named_children
        if _is_constructor(node):  # of `Disk<String>::new` the type
            type_name = text_of(parts[0]).partition("<")[0]
            return (type_name if all(map(str.isidentifier, type_name.split("."))) else ""), parts[0]
        names = [chain_of(operand, syntax) for operand in parts]
        return _plain_chain(".".join(names)), parts[-1] if parts else node
    if kind == "array_creation_expression":  # PHP: [$this, 'save'], [Disk::class, 'save']
        owner, name = (element.named_children[0] for element in node.named_children)
        owner_name = text_of(owner).removesuffix("::class").replace("\\", ".").strip(".")
        word = text_of(name).strip("'\"")
        return (f"{owner_name}.{word}" if word.isidentifier() else ""), name
    if kind not in syntax.members:
        return _plain_chain(text_of(node)), node
    raw = node.text or b""
    is_plain = PLAIN.fullmatch(raw)  # the usual case
    chain = raw.decode("utf-8", "replace") if is_plain else chain_of(node, syntax)
    places = syntax.members[kind]
    last = (
        node.child_by_field_name(places[1])
        if not places[1].lstrip("-").isdigit()
        else node.named_children[-1]
    )
    return _plain_chain(chain), last if last is not None else node


def _is_constructor(node: Node) -> bool:
    """Return True for Java's `Disk::new`."""
    return node.type == "method_reference" and node.children[-1].type == "new"


def _callable_chain(text: str) -> str:
    """Return the chain of a function that a PHP string names, with its full name space."""
    match = _CALLABLE.fullmatch(text.strip("'\"").replace("\\\\", "\\"))
    return "\\" + ".".join((*match[1].split("\\"), *match.groups("")[1:])).rstrip(".") if match else ""


def _plain_chain(chain: str) -> str:
    return "" if any(mark in chain for mark in "?#:()[]") or chain.count(".") >= LINKS_MAX else chain


def _is_of_macro(value: str) -> bool:
    return value.startswith("self.class.") and value.endswith((*COMPUTED.values(),))


class FileNames:
    """The names that one file defines and binds."""

    def __init__(self, facts: Facts, rules: Rules) -> None:
        definitions, bindings, imports = facts.definitions, facts.bindings, facts.imports
        self._rules = rules
        self._parents = [definition.parent for definition in definitions]
        types = (at for at, definition in enumerate(definitions) if definition.kind in TYPE_KINDS)
        self._types = {-1, *types}
        self._names = {entry.name for entry in definitions} | {entry.name for entry in imports}
        self._star = any(statement.member == "*" for statement in imports)
        # A word that a class of Ruby passes to a macro is no variable: `before :load`.
        self._bindings = [binding for binding in bindings if not _is_of_macro(binding.value)]
        self._bound = {(binding.scope, binding.name) for binding in self._bindings if binding.scope >= 0}
        self._parameters = {
            (at, parameter.name)
            for at, definition in enumerate(definitions)
            for parameter in definition.parameters
        }
        self._bound |= self._parameters
        self._fields = {binding.name.rpartition(".")[2] for binding in bindings if "." in binding.name}
        self._methods = {definition.name for definition in definitions if definition.kind == "method"}

    def may_mean(self, chain: str) -> bool:
        """Return True if a chain may lead to a function, as far as the file itself shows."""
        root, dot, tail = chain.partition(".")
        if dot:
            last = tail.rpartition(".")[2]
            return last in self._methods or last not in self._fields
        if self._rules.capital_macros and root.isupper():
            return False
        return root in self._names or self._star or bool(self._rules.shared)

    @functools.cached_property
    def _variables(self) -> dict[tuple[int, str], list[Binding]]:
        """(scope, name) → its bindings."""
        variables: dict[tuple[int, str], list[Binding]] = {}
        for binding in self._bindings:
            variables.setdefault((binding.scope, binding.name), []).append(binding)
        return variables

    def is_variable(self, name: str, scope: int, at: int) -> bool:
        """Return True if a parameter, or a variable bound before byte `at`, has that name."""
        while True:
            if (scope, name) in self._parameters:
                return True
            for binding in self._variables.get((scope, name), ()):
                if binding.at <= at and (not binding.until or at < binding.until):
                    return True
            if scope < 0 or self._parents[scope] in self._types:  # a method sees no variables around it
                return False
            scope = self._parents[scope]

    def is_local(self, name: str, scope: int) -> bool:
        """Return True if a function around binds `name`: a parameter or a local variable."""
        while scope >= 0:
            if (scope, name) in self._bound:
                return True
            scope = self._parents[scope]
        return False


class Scopes:
    """The definition around each place; ask for places in text order."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._spans = spans
        self._ahead = sorted(range(len(spans)), key=lambda at: (spans[at][0], -spans[at][1]), reverse=True)
        self._open: list[int] = []

    def around(self, at: int) -> int:
        while self._ahead and self._spans[self._ahead[-1]][0] <= at:
            self._open.append(self._ahead.pop())
        while self._open and self._spans[self._open[-1]][1] <= at:
            self._open.pop()
        return self._open[-1] if self._open else -1
