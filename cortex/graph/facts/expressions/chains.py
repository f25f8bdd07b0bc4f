"""Expression nodes → chains (facts.py): `self.store.get()` in the syntax tree as text."""

import functools
import re
from collections.abc import Sequence

from tree_sitter import Node

from cortex.graph.facts.declared.types import ITSELF, alternatives
from cortex.graph.facts.expressions.kotlin_values import block_result
from cortex.graph.facts.expressions.scala_values import BLOCK_KINDS
from cortex.graph.facts.facts import HIDDEN, MODULE, UNHIDDEN, module_link
from cortex.graph.facts.grammars import Syntax

#: expressions that have a type as their value → the chain of that value
_CLASS_OBJECTS = {"class_literal": "Class()", "typeof_expression": "Type()"}
#: links of the longest chain; a longer expression is unknown
LINKS_MAX = 48
UNKNOWN, LITERAL = "?", "#"
#: stored characters of a declared type: TypeScript's function types are long
TYPE_CHARS_MAX = 400
#: stored members of a union or intersection type
PARTS_MAX = 32
#: begins a link for a value with alternatives, such as `a or b`: their chains follow, encoded by
#: HIDDEN, with OR between them
EITHER, OR = "~", "\x06"
#: operators that return either side, and those that return the right side or nothing
_ONE_OF = frozenset((b"or", b"||", b"??", b"?:"))
_RIGHT = frozenset((b"and", b"&&"))
#: stored alternatives of a value, and of one that all begin with a type: others call each other
EITHER_MAX, OF_TYPES_MAX = 3, 6
#: characters of the longest function name, with its path, that is compared with `passes`
PASSES_MAX = 60
#: ends the chain of the target of C++'s iterator or pointer, `*i`
POINTED = "[*]"
#: ends the chain of an argument that is the address of its value, C++'s `&x`
ADDRESS = "[&]"
#: ends the chain of an argument that C++ moves, `std::move(x)`
MOVED = "[&&]"
#: begins a name that is looked up from the outermost name space, whatever encloses it: C++'s
#: and Ruby's `::save`, PHP's `\\save`
ROOT_MARK = "\\"
#: types that carry no information about a value
_ANYTHING = frozenset("any unknown object Object Any AnyObject dynamic interface auto".split())
_SEVERAL_TYPES = frozenset({"intersection_type", "union_type", "compound_type", "infix_type"})
_NAMED_TYPES = frozenset(
    "type_identifier generic_type nested_type_identifier stable_type_identifier type_query".split()
)
#: kind of a function that makes a list of its type argument
_LIST = "list"
#: nodes of paths that may begin at the outermost name space
_PATHS = frozenset({"qualified_identifier", "scope_resolution"})
#: nodes of names, which may be in backticks; characters of a name that a chain would split at
_BACKTICK, _IDENTIFIERS = ord("`"), frozenset({"identifier", "simple_identifier", "type_identifier"})
_RUBY_FIELDS = frozenset({"instance_variable", "class_variable"})
_IN_CHAINS = re.compile(rb"[.\[\]()~\x00-\x1f]")
#: a member of names alone; after a dot some words are none in some language
_PLAIN_MEMBER = re.compile(
    rb"[A-Za-z_][A-Za-z\d_]*+(?:\.(?!(?:await|class|this|super|new|self|Type|init|type)\b)[A-Za-z_][A-Za-z\d_]*+)++"
)
#: bytes of the longest such member: it has fewer links than LINKS_MAX
PLAIN_BYTES_MAX = 90
_LAST_WORD = re.compile(rb"\w+$")
_ENDS = re.compile(r"[.\[\]()]")
#: ends the chain of a call's result
_CALLED = re.compile(r"\((?:_(\d+)|\d*)\)(?:<[^<>]*>)?$")
#: Kotlin's functions that return their receiver
_SAME = frozenset({b"apply", b"also", b"takeIf", b"takeUnless", b"onEach"})
#: nodes with a call's arguments as their named children
HOLD_ARGUMENTS = frozenset({"argument_list", "arguments", "value_arguments"})
#: node of Python's and Ruby's calls, which have their arguments in a field
PLAIN_CALL = "call"
#: node places that are a number, not a field
_NUMBERS = {"": 0, "0": 0, "1": 1, "2": 2, "-1": -1}


def text_of(node: Node) -> str:
    text = node.text  # each access copies the bytes out of the file
    if not text:
        return ""
    if text[0] == _BACKTICK and node.type in _IDENTIFIERS and not _IN_CHAINS.search(text):
        text = text.strip(b"`")  # Kotlin's, Scala's and Swift's quoted names
    return text.decode("utf-8", "replace")


def type_text(node: Node) -> str:
    """Return a declared type on one line."""
    text = text_of(node).lstrip(": ")
    return (" ".join(text.split()) if "\n" in text else text)[:TYPE_CHARS_MAX]


def combined_types(kind: Node) -> list[Node]:
    """Return the named types in TypeScript's `A & B`, `A | B`, and Scala's `A with B`.

    `A & B & C` is `(A & B) & C`; the depth is at most the number of names, which may be thousands.
    """
    types: list[Node] = []
    pending = [kind] if kind.type in _SEVERAL_TYPES else []
    while pending:
        node = pending.pop()
        if node.type in _SEVERAL_TYPES:
            pending += reversed(node.named_children)
        elif node.type in _NAMED_TYPES:
            types.append(node)
    return types[:PARTS_MAX]


def child_of(node: Node, place: str) -> Node | None:
    """Return a child by its field, or by its number among the named children; "" is the first.
    None for no such child.
    """
    number = _NUMBERS.get(place)
    if number is None:
        return node.child_by_field_name(place)
    try:
        return node.named_child(number if number >= 0 else node.named_child_count + number)
    except (IndexError, ValueError):  # of a node that the grammar adds where a name is missing
        return None


def name_of(node: Node) -> str:
    r"""Return a name as chains have it: Ruby's `@x` and `@@x` are `self.@x` and `self.@@x`,
    which no method has as its name;
    PHP's `A\B` is `A.B`.
    """
    text = text_of(node)
    if text[:1] == "@" and node.type in _RUBY_FIELDS:
        return f"self.{text}"
    return dotted_name(text) if "\\" in text else text


def dotted_name(text: str) -> str:
    r"""Return PHP's name with its path, `\A\B`, as chains have it."""
    prefix = ROOT_MARK * text.startswith("\\")
    return prefix + text.replace("\\", ".").strip(".")


def package_name(node: Node) -> str:
    """Return the name of a package with dots."""
    return text_of(node).strip().replace("\\", ".")


def chain_of(node: Node | None, syntax: Syntax, depth: int = 0) -> str:
    """Return the chain of an expression; `?` for an unsupported shape."""
    if node is None or depth > 2 * LINKS_MAX:
        return UNKNOWN
    kind = node.type
    if kind in syntax.names:
        label = text_of(node).partition("@")[2] if kind == "this_expression" else ""
        return f"{label}.this" if label else name_of(node)
    if kind == "navigation_expression" and _is_class_object(node):
        return "KClass()"
    if kind in _CLASS_OBJECTS:
        return _CLASS_OBJECTS[kind]
    if kind in syntax.members:
        if plain := _plain_member(node, syntax):
            return plain
        left, right = syntax.members[kind]
        member = child_of(node, right)
        if member is None:
            return UNKNOWN
        member = unwrap_node(member, syntax)
        inner = child_of(node, left)
        is_name = member.type in syntax.names or member.type == "integer_literal"  # Rust's `self.0`
        tail = name_of(member) if is_name else chain_of(member, syntax, depth + 1)
        if kind == "scoped_property_access_expression":  # PHP's `self::$x`
            tail = tail.lstrip("$")
        if inner is None and kind in _PATHS and node.children[0].type == "::":
            tail = ROOT_MARK + tail
        if inner is None:
            return tail
        is_pointee = (
            tail in syntax.pointer_members
            and node.children[1].type == "->"
            and node.parent is not None  # which looks for it from the root
            and node.parent.type in syntax.calls
        )
        return f"{chain_of(inner, syntax, depth + 1)}{POINTED * is_pointee}.{tail}"
    if (read := syntax.readers.get(kind)) is not None and (chain := read(node, syntax, depth)) is not None:
        return chain
    if kind == "block" and node.named_child_count == 1:  # Rust's `unsafe { x.get() }`
        return chain_of(node.named_children[0], syntax, depth + 1)
    if kind in syntax.methods:
        left, right = syntax.methods[kind]
        inner, member = child_of(node, left), child_of(node, right)
        if member is None:
            return UNKNOWN
        called = f"{text_of(member)}{_call_mark(node, syntax)}"
        return f"{chain_of(inner, syntax, depth + 1)}.{called}" if inner is not None else called
    if kind in syntax.calls:
        if syntax.requires and (module := required_module(node)):
            return module_link(module)
        if syntax.makers and (argument := _type_argument(node, syntax)) is not None:
            return _instance_chain(argument, syntax, depth)
        if syntax.casters and (cast := _cast_call(node, syntax, depth)):
            return cast
        if syntax.passes and (argument := _forwarded_argument(node, syntax)) is not None:
            return chain_of(argument, syntax, depth + 1)
        callee_node = child_of(node, syntax.calls[kind])
        is_block_call = callee_node is not None and has_block(node)
        if is_block_call and (chain := _block_call(node, callee_node, syntax, depth)) is not None:  # type: ignore[arg-type]
            return chain
        mark = "[]" if syntax.labels and is_element_call(node) else _call_mark(node, syntax)
        callee = chain_of(callee_node, syntax, depth + 1)
        return UNKNOWN if callee == LITERAL else f"{callee}{mark}"  # (x => …)(1) has no known target
    if kind in syntax.news:
        if depth and node.named_children and node.named_children[-1].type == "class_body":
            return UNKNOWN  # Java: a call on `new Disk() {…}` mostly means a member of that body
        return _instance_chain(child_of(node, syntax.news[kind]), syntax, depth)
    if kind in syntax.elements:
        return f"{chain_of(child_of(node, syntax.elements[kind]), syntax, depth + 1)}[]"
    if kind in syntax.either:
        return _union_chain(node, syntax, depth)
    if kind in syntax.casts:
        return _cast_chain(child_of(node, syntax.casts[kind] or "-1"), depth)
    if kind in syntax.wraps:
        if kind == "generic_function" and (cast := _typed_result(node, syntax, depth)):  # Scala
            return cast
        return chain_of(child_of(node, syntax.wraps[kind]), syntax, depth + 1)
    if kind == "object_literal" and (object_chain := object_base(node)) not in (UNKNOWN, LITERAL):
        return object_chain
    if depth and kind in syntax.extended_literals:
        return syntax.extended_literals[kind]
    return LITERAL if kind in syntax.literals else UNKNOWN


def _block_call(call: Node, callee: Node, syntax: Syntax, depth: int) -> str | None:
    """Return the chain of Kotlin's call with a trailing block; None where the common rules
    apply.
    """
    is_member = callee.type == "navigation_expression"
    name = child_of(callee, "-1") if is_member else callee
    if name is not None and name.text in _SAME:
        return chain_of(callee.child(0), syntax, depth + 1) if is_member else "this"
    if result := block_result(call, lambda child: chain_of(child, syntax, depth + 1)):
        return result
    if callee.type != "call_expression":
        return None
    chain = chain_of(callee, syntax, depth + 1)  # `f(1) { … }` is one call, with a further argument
    return _CALLED.sub(lambda mark: f"(_{int(mark[1] or 0) + 1})", chain)


def is_element_call(call: Node) -> bool:
    """Return True for Swift's `disk[0]`, which its grammar takes for a call."""
    suffix = call.child(call.child_count - 1)
    arguments = suffix.child(0) if suffix is not None and suffix.type == "call_suffix" else None
    return arguments is not None and arguments.child_count > 0 and arguments.child(0).type == "["


def _is_class_object(member: Node) -> bool:
    """Return True for Kotlin's `Disk::class`."""
    count = member.child_count
    return count > 2 and member.child(count - 2).type == "::" and member.child(count - 1).text == b"class"


def _plain_member(node: Node, syntax: Syntax) -> str:
    """Return the chain of a member of names alone, the usual one; "" for any other."""
    if node.end_byte - node.start_byte > PLAIN_BYTES_MAX:  # before its text is copied
        return ""
    text = node.text or b""
    if not _PLAIN_MEMBER.fullmatch(text):
        return ""
    root = node.descendant_for_byte_range(node.start_byte, node.start_byte)
    return text.decode() if root is not None and root.type in syntax.names else ""


def infix_of(node: Node, syntax: Syntax, depth: int = 0) -> str:
    """Return the chain of Scala's and Kotlin's `disk save item`, which is `disk.save(item)`."""
    left, operator = child_of(node, ""), child_of(node, "1")
    if left is None or operator is None or operator.type != "identifier":
        return UNKNOWN
    return f"{chain_of(left, syntax, depth + 1)}.{text_of(operator)}(_1)"


def object_base(node: Node) -> str:
    """Return the chain of Kotlin's `object : Disk() { … }` if it has a single base."""
    bases = [
        child
        for child in node.named_children
        if child.type in ("delegation_specifier", "delegation_specifiers")
    ]
    if len(bases) == 1 and bases[0].type == "delegation_specifiers":
        bases = bases[0].named_children
    names = alternatives(text_of(bases[0]).partition("(")[0]) if len(bases) == 1 else ()
    return f"{names[0]}()" if len(names) == 1 and "*" not in names[0] else UNKNOWN


def strip_call(chain: str) -> str:
    """Return a chain without a call at its end."""
    return _CALLED.sub("", chain)


def unwrap_node(node: Node, syntax: Syntax) -> Node:
    """Return the node under transparent wrappers: the name in Swift's `.save`."""
    while node.type in syntax.wraps and (inner := child_of(node, syntax.wraps[node.type])) is not None:
        node = inner
    return node


def last_name(member: Node, syntax: Syntax) -> Node:
    """Return the last name of a member with a path: `shop::Disk::save` after `app::` in C++."""
    member = unwrap_node(member, syntax)
    while member.type == "qualified_identifier" and (inner := member.child_by_field_name("name")) is not None:
        member = unwrap_node(inner, syntax)
    return member


def _call_mark(node: Node, syntax: Syntax) -> str:
    """Return `()`, or with the number of arguments, `(_2)`, in languages with overloads."""
    types = syntax.call_types(node) if syntax.call_types is not None else ""
    tail = f"<{types}>" if types else ""
    if not syntax.counts:
        return f"(){tail}"
    argument_list = node.child_by_field_name("arguments") or node.child(node.child_count - 1)
    if (
        argument_list is not None and argument_list.type in HOLD_ARGUMENTS
    ):  # the usual case; each call of a chain gets here
        count = (
            sum(not child.is_extra for child in argument_list.named_children)
            if argument_list.named_child_count
            else 0
        )
    else:
        arguments, closures = arguments_of(node)
        count = len(arguments or ()) + closures
    return f"(_{count}){tail}" if count else f"(){tail}"


def class_argument(call: Node) -> str:
    """Return the class in the first argument of PHP's `make(Disk::class)`: the result may be of
    it.
    """
    arguments = call.child_by_field_name("arguments")
    if arguments is None or not arguments.named_child_count:
        return ""
    argument = (
        child_of(arguments.named_children[0], "-1") if arguments.named_children[0].named_child_count else None
    )
    if (
        argument is None
        or argument.type != "class_constant_access_expression"
        or argument.named_child_count < 2
    ):
        return ""
    return name_of(argument.named_children[0]) if argument.named_children[1].text == b"class" else ""


def has_block(call: Node) -> bool:
    """Return True if a Kotlin call has a trailing block."""
    count = call.child_count
    return count > 1 and call.child(count - 1).type == "annotated_lambda"


def _union_chain(node: Node, syntax: Syntax, depth: int) -> str:
    """Return the chain of `a or b`, `x ? a : b`, with both alternatives if both are known."""
    places = syntax.either[node.type]
    operator = node.child_by_field_name("operator")
    if operator is not None and (text := operator.text) not in _ONE_OF:
        if text not in _RIGHT:
            return UNKNOWN
        places = places[-1:]
    chains = [chain_of(child_of(node, place), syntax, depth + 1) for place in places]
    return union_link([chain for chain in chains if chain not in (UNKNOWN, LITERAL)])


def union_link(chains: Sequence[str]) -> str:
    """Return one link for a value with alternatives; `?` for none, or for too many."""
    parts = dict.fromkeys(branch for chain in chains for branch in union_chains(chain) or (chain,))
    if len(parts) < 2:
        return next(iter(parts), UNKNOWN)
    most = OF_TYPES_MAX if all(branch[:1].isupper() for branch in parts) else EITHER_MAX
    if len(parts) > most or any(branch.startswith((":", MODULE)) or OR in branch for branch in parts):
        return UNKNOWN
    return EITHER + OR.join(branch.translate(HIDDEN) for branch in parts)


def union_chains(link: str) -> list[str]:
    """Return the chains that a link stands for; none for another link, and for a chain of links."""
    if not link.startswith(EITHER) or _ENDS.search(link):
        return []
    return [branch.translate(UNHIDDEN) for branch in link[1:].split(OR)]


def narrowed_name(chain: str) -> str:
    """Return the name in bindings of a receiver's field, `self.x`, whose type a test narrows."""
    return chain.translate(HIDDEN)


def required_module(call: Node) -> str:
    """Return the module of `require("x")` and `import("x")`; "" for any other call."""
    callee = call.child_by_field_name("function")
    kind = callee.type if callee is not None else ""
    if callee is None or (kind != "import" and (kind != "identifier" or callee.text != b"require")):
        return ""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.named_child_count != 1:
        return ""
    module = arguments.named_children[0]
    return text_of(module).strip("'\"`") if module.type in ("string", "template_string") else ""


@functools.lru_cache(maxsize=16)
def _last_words(passes: frozenset[str]) -> frozenset[bytes]:
    """Return the last words of function names: few calls end with one, so only their chains are
    built.
    """
    return frozenset(name.rpartition(".")[2].encode() for name in passes)


def _forwarded_argument(call: Node, syntax: Syntax) -> Node | None:
    """Return the argument of a function whose result acts like it: `Arc::new(x)`,
    `std::move(x)`.
    """
    arguments = call.child_by_field_name("arguments")
    count = arguments.named_child_count if arguments is not None else 0
    if arguments is None or not (count == 1 or (count and syntax.passes_first)):
        return None
    callee = child_of(call, syntax.calls[call.type])
    word = _LAST_WORD.search(callee.text or b"") if callee is not None else None
    if callee is None or word is None or word.end() > PASSES_MAX or word[0] not in _last_words(syntax.passes):
        return None
    names = chain_of(callee, syntax).split(".")
    passes = ".".join(names[-2:]) in syntax.passes or (len(names) > 1 and f".{names[-1]}" in syntax.passes)
    return arguments.named_children[0] if passes else None


def _type_argument(call: Node, syntax: Syntax) -> Node | None:
    """Return the type in a call that makes an instance of it: Go's `new(T)`, `make([]T, n)`."""
    callee, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if callee is None or arguments is None or callee.type not in syntax.names:
        return None
    most = syntax.makers.get(text_of(callee), 0)
    if not 0 < arguments.named_child_count <= most:
        return None
    argument = arguments.named_children[0]
    return argument if argument.type.endswith("_type") or argument.type == "type_identifier" else None


def _cast_call(call: Node, syntax: Syntax, depth: int) -> str:
    """Return the chain of C++'s `static_cast<Disk*>(x)`, `std::make_unique<Disk>()`, Python's
    `cast(Disk, x)`; "" for any other call.
    """
    callee = call.child_by_field_name("function")
    if syntax.casts_first:
        arguments = call.child_by_field_name("arguments")
        if callee is None or arguments is None or arguments.named_child_count != 2:
            return ""
        is_cast = text_of(callee).rpartition(".")[2] in syntax.casters
        return _cast_chain(arguments.named_child(0), depth) if is_cast else ""
    while callee is not None and callee.type == "qualified_identifier":
        callee = callee.child_by_field_name("name")
    return (
        _typed_result(callee, syntax, depth)
        if callee is not None and callee.type == "template_function"
        else ""
    )


def _typed_result(node: Node, syntax: Syntax, depth: int) -> str:
    """Return the result of a function with a type argument that makes a value of it; "" for
    others.
    """
    name = node.child_by_field_name("name") or node.child_by_field_name("function")
    means = syntax.casters.get(text_of(name).rpartition(".")[2]) if name is not None else None
    arguments = node.child_by_field_name("arguments") or node.child_by_field_name("type_arguments")
    if means is None or arguments is None or not arguments.named_children:
        return ""
    target = arguments.named_children[0]
    if means == _LIST and not depth:
        return f":List[{text_of(target)}]"[:TYPE_CHARS_MAX]
    if means in syntax.pointer_types and not depth:
        return f":std::{means}<{text_of(target)}>"[:TYPE_CHARS_MAX]
    return _cast_chain(target, depth) if means == "cast" else _instance_chain(target, syntax, depth)


def _cast_chain(target: Node | None, depth: int) -> str:
    """Return the declared type of `x as Foo`; in a longer chain, `(x as Foo).bar`, an instance of
    Foo.
    """
    if target is not None and target.type == "type_arguments":  # TypeScript's <Foo>x
        target = target.named_children[0] if target.named_children else None  # `<const>x`
    if target is None:
        return UNKNOWN
    text = text_of(target)
    if depth == 0:
        return f":{text}"
    names = alternatives(text)
    if len(names) == 1 and names[0].startswith(ITSELF):
        return names[0][1:]
    is_known = len(names) == 1 and not names[0].endswith("*") and names[0] not in _ANYTHING
    return f"{names[0]}()" if is_known else UNKNOWN


def _instance_chain(node: Node | None, syntax: Syntax, depth: int) -> str:
    """Return the chain of `new Foo<T>()`, `Foo{}`: a call of the type's chain."""
    if node is None:
        return UNKNOWN
    if node.type in syntax.members or node.type in syntax.names:
        return f"{chain_of(node, syntax, depth + 1)}()"
    names = alternatives(text_of(node))
    if len(names) != 1:
        return UNKNOWN
    return (
        LITERAL
        if names[0].endswith("*") and depth
        else f":{text_of(node)}"
        if names[0].endswith("*")
        else f"{names[0]}()"
    )


def arguments_of(call: Node, blocks: int = 0) -> tuple[list[Node] | None, int]:
    """Return (arguments of a call without comments, number of trailing closures in Swift and
    Kotlin).

    The arguments are None if they cannot be read. `blocks` are behind the call: the grammar takes
    Kotlin's `f(1) { … }` for a call of `f(1)`. To find that out is linear in the depth of `call`.
    """
    argument_list, closures = call.child_by_field_name("arguments"), 0
    if argument_list is None and call.type != PLAIN_CALL:
        around = call.named_children
        if around and around[-1].type == "call_suffix":
            around = around[-1].named_children
            closures = sum(child.type == "lambda_literal" for child in around)
        argument_list = next(
            (child for child in around if "argument" in child.type and child.type != "type_arguments"), None
        )
        closures += blocks or has_block(call)
    if argument_list is not None and argument_list.type in BLOCK_KINDS:  # Scala's `f { … }`: one argument
        return [argument_list], closures
    return None if argument_list is None else [
        child for child in argument_list.named_children if not child.is_extra
    ], closures


def split_chain(chain: str) -> tuple[str, str]:
    """Return (receiver, member) of a callee's chain; the receiver is "" for a bare name."""
    left, dot, right = chain.rpartition(".")
    return (left, right) if dot else ("", chain)
