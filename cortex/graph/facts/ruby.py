"""Ruby: names of the methods that a class delegates or makes from words; values of a block's
parameter, of branches, operators and expected errors; and the tests in which a value holds.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from cortex.graph.facts.declared.flags import is_of_class_itself
from cortex.graph.facts.expressions.blocks import BLOCK_ARGUMENT
from cortex.graph.facts.expressions.chains import (
    LITERAL,
    UNKNOWN,
    chain_of,
    child_of,
    strip_call,
    text_of,
    union_link,
)
from cortex.graph.facts.facts import DEFAULT, MANY
from cortex.graph.facts.grammars import Syntax

#: delegators of one method; a third argument gives it another name
_SINGLE_DELEGATORS = frozenset({"def_delegator", "def_instance_delegator"})
_NAMES = frozenset({"simple_symbol", "string"})
_CLASS_RECEIVERS = frozenset({"constant", "self", "identifier", "instance_variable"})
#: children of a call without arguments
_MEMBER_PARTS = 3
_LISTS = frozenset({"string_array", "symbol_array", "array"})
_WORDS = frozenset({"simple_symbol", "string", "bare_string", "bare_symbol", "hash_key_symbol"})
_BLOCKS = frozenset({"block", "do_block"})
#: nodes of statements
_BODIES = frozenset({"program", "body_statement", "block_body", "then", "begin"})
#: parameters for any number of arguments
_MANY = frozenset({"splat_parameter", "hash_splat_parameter", "forward_parameter"})
#: operators that a type may define for a result of its own
_ARITHMETIC = frozenset("+ - * / % >> << | &".split())
_CONSTANTS = frozenset({"constant", "scope_resolution"})
#: methods whose block is a test, and methods whose block prepares those of the group around it
_TESTS = frozenset("it specify example scenario test should".split())
_PREPARERS = frozenset("before setup around let subject".split())
#: methods whose block defines methods that other files call
_SHARING = frozenset("configure shared_context shared_examples shared_examples_for".split())
#: calls that make a class, and what gives it a name
_MAKERS, _MAKE = frozenset((b"Class", b"Struct", b"Data")), frozenset((b"new", b"define"))
_NAMED = frozenset({"constant", "identifier"})
#: ends the chain of a list's elements; the name of what may be `self` in a block
LISTED, EVALUATED = "(^e)", "(block)"
#: ends the chain of a method for the `self` of its block; begins the flag of a method with the
#: chain of that
BLOCK_SELF, RUNS_BLOCK = "(^s)", "&"
#: links for the parameters of a block with two: a list's first is no element, but a hash's second
FIRST_OF_TWO, SECOND_OF_TWO = "(~k)", "(~v)"
#: methods whose block gets an element and something else, or no element first
_WITH_ELEMENT = frozenset("each_with_index each_with_object map_with_index with_index".split())
_WITHOUT_ELEMENT = frozenset(
    "inject reduce each_index each_key each_slice each_cons fill zip combination permutation product".split()
)
#: methods that return a list of what their block returns
_MAPS = frozenset((b"map", b"collect", b"flat_map", b"filter_map"))
#: a call of one of them that returns other words
_OTHER_WORDS = re.compile(rb"\.(?:map|collect|flat_map|filter_map)\b(?!\(&:to_s)")
#: methods that return what their block returns; classes of lists that their block fills
_GIVE_RESULT, _FILLED = frozenset((b"then", b"yield_self")), frozenset((b"Array", b"Hash"))
#: begins the link for an unnamed class: the byte at which it begins follows
UNNAMED_AT = "{"
#: methods of tests that expect an error
_RAISERS = frozenset((b"assert_raises", b"assert_raise", b"raise_error"))
#: methods that run a block with another `self`, and those of them that define methods
_RUN_BLOCK = frozenset("instance_eval instance_exec class_eval class_exec module_eval module_exec".split())
#: methods whose block has the `self` of the code around it, or an unknown one
_SAME_SELF = frozenset(
    "after all? any? around at_exit before catch collect collect_concat context count cycle define_method "
    "define_singleton_method delete_if describe detect drop_while each each_char each_cons each_entry each_index "
    "each_key each_line each_pair each_slice each_value each_with_index each_with_object expect feature fetch "
    "filter filter_map find find_all find_index flat_map fork group_by inject it it_behaves_like lambda let let! "
    "loop map max_by min_by none? one? open partition proc reduce reject reject! scenario select select! sort "
    "sort_by specify step subject subject! sum synchronize take_while tap test then times uniq upto "
    "with_index with_object yield_self zip".split()
)
_NOT_FOLLOWED = _SAME_SELF | _RUN_BLOCK
#: calls whose block is the body of a class or module
_UNNAMED = frozenset("Class.new Module.new Struct.new Data.define".split())
#: such flags of one method
_RUNNERS_MAX = 3
#: methods that pass their receiver to their block
_PASS_ITSELF = frozenset({"tap", "then", "yield_self"})
#: methods whose block gets the whole list
_WITH_LIST = _PASS_ITSELF | {"instance_eval", "instance_exec"}
#: a method in a text that `class_eval` reads, and a name's variable part
_IN_TEXT = re.compile(
    r"^\s*def (?:self\.)?(?P<name>[\w#{}]+[?!=]?)(?:\(.*\))?(?:\s*[;\n]\s*(?P<value>[a-z_][\w.]*\.[\w#{}]+)(?:\(.*\))?\s*[;\n]\s*end\b)?",
    re.MULTILINE,
)
_VARIABLE = re.compile(r"#\{(\w+)\}")
#: a computed name; COMPUTED has its endings
_COMPUTED_NAME = re.compile(r"#\{\w+(?:\.\w+)?\}[=?!]?")
#: symbols of one call that may be names of methods
WORDS_MAX = 12
#: endings of names that a macro adds to a word → the links to those methods; a `?` ends chains
COMPUTED = {"": "(^)", "=": "(^w)", "?": "(^t)"}
#: the name in a class method that stands for a method which gets the same word
PASSED_ON = "(word)"
#: statements above a call, where a variable may get its name: each takes as long as all before it
_STATEMENTS_MAX = 8
#: statements of a scope that may be a constant with words
_CONSTANTS_MAX = 50
#: nodes between a method's definition and the list of words around it
_LEVELS_MAX = 12


def is_shared(definition: Node) -> bool:
    """Return True for a method in `RSpec.configure do |config|`, a block that is only called, and
    so defines a method of all objects, or in `shared_context`, for the groups of any file.
    """
    node = definition.parent
    while node is not None and node.type not in _BLOCKS:
        node = node.parent
    call = node.parent if node is not None else None
    method = call.child_by_field_name("method") if call is not None else None
    return method is not None and text_of(method) in _SHARING


def is_statement(module: Node) -> bool:
    """Return True for a module that a statement includes: the matcher in `should include(Disk)` is
    an argument.
    """
    call = module.parent.parent if module.parent is not None else None
    return call is not None and call.parent is not None and call.parent.type in _BODIES


def extends(module: Node) -> bool:
    """Return True for a module that a type extends itself with: `extend Made`, or `include Made` in
    `class << self`.
    """
    call = module.parent.parent if module.parent is not None else None
    if call is None or call.type != "call":
        return False
    arguments, method = call.child_by_field_name("arguments"), call.child_by_field_name("method")
    first = arguments.named_children[:1] if arguments is not None else ()
    names = {text_of(part).lstrip(":") for part in (method, *first) if part is not None}
    return "extend" in names or is_of_class_itself(call)


def delegate_name(node: Node, holder: str) -> str:
    """Return the name under which a class delegates method `node` to its `holder`.

    "" if it delegates none, or if only the running program can tell the name.
    """
    arguments = node.parent
    call = arguments.parent if arguments is not None else None
    method = call.child_by_field_name("method") if call is not None else None
    if arguments is None or method is None:
        return ""
    if text_of(method) in _SINGLE_DELEGATORS:
        nodes = arguments.named_children
        return _literal_name(nodes[-1]) if 2 <= len(nodes) <= 3 and nodes[1] == node else ""
    name = _literal_name(node)
    for argument in arguments.named_children:
        key = argument.child_by_field_name("key") if argument.type == "pair" else None
        value = argument.child_by_field_name("value") if key is not None else None
        if key is None or value is None or text_of(key) != "prefix":
            continue
        if value.type not in ("true", "false", "nil"):
            return f"{_literal_name(value)}_{name}" if _literal_name(value) else ""
        return f"{holder}_{name}" if value.type == "true" else name
    return name


def _literal_name(node: Node) -> str:
    """Return the name in a symbol or string."""
    text = text_of(node).strip("'\":") if node.type in _NAMES else ""
    return text if text.rstrip("?!=").isidentifier() else ""


def block_argument(name: Node, syntax: Syntax) -> str:
    """Return the chain of a block's first parameter, the value that the called method yields, and
    of the error in `rescue Full => error`.
    """
    parameters = name.parent
    block = parameters.parent if parameters is not None else None
    if block is not None and parameters is not None and parameters.type == "left_assignment_list":
        return _assigned_in_turn(name, parameters, block, syntax)
    if block is not None and block.type == "rescue":
        return _error_of(block.child_by_field_name("exceptions"), syntax)
    if parameters is None or block is None or parameters.type != "block_parameters":
        return UNKNOWN
    call = block.parent
    if block.type not in _BLOCKS or call is None or call.type != "call":
        return UNKNOWN
    if (constants := _of_rows(call, parameters, name, syntax)) is not None:
        return constants
    is_second = parameters.named_child(0) != name
    if is_second and (parameters.named_child_count != 2 or parameters.named_child(1) != name):
        return UNKNOWN
    if not is_second and (error := _raised_error(call, syntax)):
        return error
    chain = strip_call(_call_chain(call, syntax))
    receiver, _, method = chain.rpartition(".")
    if method in _WITHOUT_ELEMENT or chain[:1] in UNKNOWN:
        return UNKNOWN
    if is_second:
        return UNKNOWN if method in _WITH_ELEMENT or not receiver else chain + SECOND_OF_TWO
    if method in _PASS_ITSELF:
        return receiver or UNKNOWN
    is_first = parameters.named_child_count > 1 and method not in _WITH_ELEMENT
    return chain + (FIRST_OF_TWO if is_first else BLOCK_ARGUMENT)


def _of_rows(call: Node, parameters: Node, name: Node, syntax: Syntax) -> str | None:
    """Return the chain of the constants that a block's parameter gets of a literal list, `[Disk,
    Tape].each do |kind|`, or of its rows, `{"disk" => Disk}.each do |word, kind|`; None if it gets
    none.
    """
    rows, method = call.child_by_field_name("receiver"), call.child_by_field_name("method")
    if rows is not None and rows.type == "constant":
        rows = _value_of_constant(rows)
    if rows is not None and rows.type == "call" and (rows.text or b"").endswith(b".freeze"):
        rows = rows.child_by_field_name("receiver")
    if rows is None or method is None or rows.type not in ("array", "hash"):
        return None
    cells, column = rows.named_children, parameters.named_children.index(name)
    if len(cells) > WORDS_MAX or text_of(method) in _WITHOUT_ELEMENT | _WITH_LIST:
        return None
    if parameters.named_child_count > 1 and text_of(method) not in _WITH_ELEMENT:
        of_rows = (row.named_children for row in cells if row.type in ("array", "pair"))
        cells, column = [cell for row in of_rows for cell in row[column : column + 1]], 0
    if column or not any(cell.type in _CONSTANTS for cell in cells):
        return None
    chains = [chain for cell in cells if (chain := chain_of(cell, syntax)) != LITERAL]
    return UNKNOWN if UNKNOWN in chains else union_link(chains)


def _assigned_in_turn(name: Node, names: Node, assignment: Node, syntax: Syntax) -> str:
    """Return the chain of a name's value in `a, b = Disk.new, Tape.new`."""
    values = assignment.child_by_field_name("right")
    if values is None or values.type != "right_assignment_list":
        return UNKNOWN
    pairs = zip(names.named_children, values.named_children, strict=False)
    is_plain = names.named_child_count == values.named_child_count
    chain = next((chain_of(value, syntax) for left, value in pairs if left == name and is_plain), UNKNOWN)
    return UNKNOWN if chain == LITERAL else chain


def runner_of_block(call: Node, syntax: Syntax) -> str:
    """Return the chain of what is `self` in the block that a call passes on, `store.run(&block)`;
    "" if it is that of the code around the block.
    """
    receiver, method = call.child_by_field_name("receiver"), call.child_by_field_name("method")
    name, of_receiver = text_of(method) if method is not None else "", "self"
    if receiver is not None:
        of_receiver = chain_of(receiver, syntax)
    if name in _RUN_BLOCK:
        return of_receiver if of_receiver[:1] not in (UNKNOWN, LITERAL) else ""
    if name == "new" and of_receiver in ("Class", "Module"):
        arguments = call.child_by_field_name("arguments")
        base = arguments.named_children[0] if arguments is not None and arguments.named_children else None
        chain = chain_of(base, syntax) if base is not None and base.type != "block_argument" else UNKNOWN
        return chain if chain[:1] not in (UNKNOWN, LITERAL) else ""
    return "" if name in _SAME_SELF or not name.isidentifier() else f"{of_receiver}.{name}{BLOCK_SELF}"


def block_self(call: Node, syntax: Syntax) -> str:
    """Return the chain of what is `self` in a call's block; "" if it is that of the code around."""
    method = call.child_by_field_name("method")
    name = text_of(method) if method is not None else ""
    if not name or name in _NOT_FOLLOWED:
        return ""
    is_bare = call.child_by_field_name("receiver") is None
    chain = name if is_bare else strip_call(chain_of(call, syntax))
    if chain[:1] in (UNKNOWN, LITERAL) or chain in _UNNAMED:
        return ""
    return f"{chain}{BLOCK_SELF}"


def add_runner(flags: tuple[str, ...], chain: str) -> tuple[str, ...]:
    """Return the flags of a method with what runs its block, which are few."""
    flag = RUNS_BLOCK + chain
    count = sum(other.startswith(RUNS_BLOCK) for other in flags)
    return (*flags, flag) if chain and flag not in flags and count < _RUNNERS_MAX else flags


def _call_chain(call: Node, syntax: Syntax) -> str:
    """Return the chain of a call itself, whatever its value is."""
    receiver, method = call.child_by_field_name("receiver"), call.child_by_field_name("method")
    if method is None:
        return UNKNOWN
    if method.text not in _MAPS and method.text not in _GIVE_RESULT:
        return chain_of(call, syntax)
    return f"{chain_of(receiver, syntax)}.{text_of(method)}" if receiver is not None else text_of(method)


def end_of_tests(node: Node) -> int:
    """Return the byte up to which a value that is assigned at `node` holds: the end of one test, or
    of the group whose tests a `before` block prepares; 0 for that of the file.
    """
    is_prepared = False
    around = node.parent
    while around is not None:
        if around.type in _BLOCKS and around.parent is not None:
            method = around.parent.child_by_field_name("method")
            name = text_of(method) if method is not None else ""
            if is_prepared or name in _TESTS:
                return around.end_byte
            is_prepared = name in _PREPARERS
        around = around.parent
    return 0


def _raised_error(call: Node, syntax: Syntax) -> str:
    """Return the chain of the error that a test expects: of `assert_raises(Full)`,
    `raise_error(Full)`, `expect { … }.to raise_error(Full)`; "" for any other call.
    """
    method, arguments = call.child_by_field_name("method"), call.child_by_field_name("arguments")
    first = child_of(arguments, "") if arguments is not None else None
    if method is None or first is None:
        return ""
    if method.text == b"to" and first.type == "call":
        return _raised_error(first, syntax)
    return _error_of(arguments, syntax) if method.text in _RAISERS else ""


def _error_of(classes: Node | None, syntax: Syntax) -> str:
    """Return the chain of an instance of one of `classes`."""
    named = classes.named_children if classes is not None else ()
    chains = [chain_of(name, syntax) for name in named if name.type in _CONSTANTS]
    return union_link([f"{chain}.new()" for chain in chains])


def class_of_call(call: Node, syntax: Syntax, depth: int) -> str | None:
    """Return the chain of the base in `Class.new(Disk)`, of the type in `disk.class`, of the error
    in `assert_raises(Full)`; None for any other call.
    """
    if (result := _result_of_block(call, syntax, depth)) is not None:
        return result
    receiver = call.child(0)
    if receiver is None or receiver.type not in _CLASS_RECEIVERS:
        return None
    if receiver.type == "identifier" and receiver.text in _RAISERS:
        return _raised_error(call, syntax) or None
    if receiver.text == b"stub_const":
        return chain_of(child_of(call.child_by_field_name("arguments") or call, "1"), syntax, depth + 1)
    if receiver.type == "constant":
        if is_unnamed_class(call):
            return f"{UNNAMED_AT}{call.start_byte}"
        arguments = call.child_by_field_name("arguments") if receiver.text == b"Class" else None
        return chain_of(child_of(arguments, ""), syntax, depth + 1) if arguments is not None else None
    if call.child_count != _MEMBER_PARTS or call.children[-1].text != b"class":
        return None
    return f"{chain_of(receiver, syntax, depth + 1)}.class"


def _result_of_block(call: Node, syntax: Syntax, depth: int) -> str | None:
    """Return the chain of the list in `rows.map { |row| Row.new(row) }`, `Array.new(3) { Row.new }`
    or of the result of `row.then { |one| one.next }`; None for any other call.
    """
    method, block = call.child_by_field_name("method"), call.child_by_field_name("block")
    receiver = call.child_by_field_name("receiver")
    if block is None or method is None or receiver is None:
        return None
    is_mapped = method.text in _MAPS
    if not is_mapped and method.text not in _GIVE_RESULT and receiver.text not in _FILLED:
        return None
    body, parameters = block.child_by_field_name("body"), block.child_by_field_name("parameters")
    chain = chain_of(child_of(body, "-1"), syntax, depth + 1) if body is not None else UNKNOWN
    root = re.match(r"\w+", chain)
    if parameters is not None and root is not None and root[0] == text_of(parameters).strip("| "):
        element = chain_of(receiver, syntax, depth + 1) + "[]" * is_mapped
        chain = element + chain[root.end() :]
    elif not chain[:1].isupper():
        return None
    return chain if method.text in _GIVE_RESULT else chain + LISTED


def list_of_elements(node: Node, syntax: Syntax, depth: int) -> str | None:
    """Return the chain of the list `[Disk.new(1), Disk.new(2)]`, or of a hash with such values;
    None for one with others.
    """
    values = [pair.child_by_field_name("value") or pair for pair in node.named_children[: WORDS_MAX + 1]]
    if not values or len(values) > WORDS_MAX or any(value.type != "call" for value in values):
        return None
    chains = [chain_of(value, syntax, depth + 1) for value in values]
    link = union_link(chains) if all(chain[:1].isupper() for chain in chains) else UNKNOWN
    return None if link == UNKNOWN else link + LISTED


def added_values(container: Node) -> list[Node]:
    """Return what `@disks << disk`, `@disks.push(disk)`, `@disks[at] = disk` add to a variable."""
    around = container.parent
    if around is not None and around.type == "element_reference":
        around = around.parent
    if around is None:
        return []
    arguments, right = around.child_by_field_name("arguments"), around.child_by_field_name("right")
    return arguments.named_children if arguments is not None else [right] if right is not None else []


def is_unnamed_class(call: Node) -> bool:
    """Return True for `Class.new do … end` whose class gets no name by an assignment."""
    maker, method = call.child_by_field_name("receiver"), call.child_by_field_name("method")
    if maker is None or maker.text not in _MAKERS or call.child_by_field_name("block") is None:
        return False
    around = call.parent
    is_named = around is not None and around.type == "assignment" and around.named_children[0].type in _NAMED
    return method is not None and method.text in _MAKE and not is_named


def value_of_case(case: Node, syntax: Syntax, depth: int) -> str:
    """Return the chain of the values of a `case`, as that of `a ? b : c`."""
    branches = (branch.child_by_field_name("body") or branch for branch in case.named_children)
    bodies = [branch for branch in branches if branch.type in ("then", "else")]
    chains = [chain_of(body, syntax, depth + 1) for body in bodies]
    return union_link([chain for chain in chains if chain not in (UNKNOWN, LITERAL)])


def result_of_operator(binary: Node, syntax: Syntax, depth: int) -> str | None:
    """Return the chain of the result of `a + b`; None for an operator of conditions."""
    operator = binary.child_by_field_name("operator")
    if operator is None or text_of(operator) not in _ARITHMETIC:
        return None
    left = chain_of(binary.child_by_field_name("left"), syntax, depth + 1)
    return UNKNOWN if left in (UNKNOWN, LITERAL) else f"{left}.{text_of(operator)}()"


def default_mark(name: Node, _declared: str) -> str:
    """Return the mark of a parameter that a call may omit or give several times, "" for others."""
    if name.type in _MANY:
        return MANY
    around = name.parent
    return DEFAULT if around is not None and around.type != "method_parameters" else ""


def guarded_value(clause: Node, syntax: Syntax, depth: int) -> str:
    """Return the chain of the expression before `rescue` or `ensure`, or of that after `rescue`."""
    chain = chain_of(clause.prev_named_sibling, syntax, depth + 1)
    body = clause.child_by_field_name("body") if clause.type == "rescue" else None
    instead = chain_of(body, syntax, depth + 1) if body is not None else UNKNOWN
    return union_link([chain, instead]) if instead[:1].isupper() and chain != UNKNOWN else chain


def computed_name(node: Node) -> str:
    """Return the name of a method that a macro computes: `#{name}` of `define_method(name)`,
    `#{name}=` of `define_method("#{name}=")`; "" for other nodes.
    """
    arguments = node.child_by_field_name("arguments") if node.type == "call" else None
    name = child_of(arguments, "") if arguments is not None else None
    if name is None:
        return ""
    text = text_of(name)
    if name.type == "identifier":
        text = _value_above(node, name) or f"#{{{text}}}"
    text = text.strip(":'\"")
    return text if _COMPUTED_NAME.fullmatch(text) else ""


def _value_above(node: Node, name: Node) -> str:
    """Return the text that a statement above assigns to a variable, "" for none."""
    statement = node.prev_named_sibling
    for _ in range(_STATEMENTS_MAX):
        if statement is None:
            break
        if statement.type == "assignment" and statement.named_children[0].text == name.text:
            return text_of(statement.named_children[-1])
        statement = statement.prev_named_sibling
    return ""


def words_given(call: Node) -> list[tuple[str, Node]]:
    """Return the symbols that a call without a receiver gets: `property :first, :last`."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or call.child_by_field_name("receiver") is not None:
        return []
    words = arguments.named_children[:WORDS_MAX]
    return [(name, word) for word in words if word.type == "simple_symbol" and (name := _literal_name(word))]


def template_names(node: Node) -> Iterator[tuple[str, int, str]]:
    """Yield (name, lines below the node, chain of its value) of the methods that
    `define_method(name)`, or the text of `class_eval`, defines for each of the words around it:
    `%w[get post].each do |name|`. The value is that of a body such as `store.name`.
    """
    if node.type == "heredoc_body":
        before = node.prev_named_sibling
        text = text_of(node) if before is not None and "_eval" in text_of(before) else ""
        written = [
            (match["name"], text.count("\n", 0, match.start("name")), match["value"] or "")
            for match in _IN_TEXT.finditer(text)
        ]
    else:
        arguments = node.child_by_field_name("arguments")
        name = child_of(arguments, "") if arguments is not None else None
        if name is None:
            return
        text = text_of(name)
        written = [(f"#{{{text}}}" if name.type == "identifier" else text.strip(":'\""), 0, "")]
    words = _words_around(node) if any("#{" in pattern for pattern, _, _ in written) else {}
    for pattern, below, result in written:
        variables = _VARIABLE.findall(pattern)
        values = words.get(variables[0], ()) if len(variables) == 1 else ("",) * (not variables)
        for value in values:
            full_name = _VARIABLE.sub(lambda _, value=value: value, pattern)
            called = [_VARIABLE.sub(lambda _, value=value: value, part) for part in result.split(".") if part]
            if full_name.rstrip("?!=").isidentifier():
                yield full_name, below, ".".join(f"{name}()" for name in called)


def _words_around(node: Node) -> dict[str, list[str]]:
    """Return the words of each list of literals whose `each` has a block around `node`, by the
    name of the block's parameter.
    """
    words: dict[str, list[str]] = {}
    around = node.parent
    for _ in range(_LEVELS_MAX):
        if around is None:
            break
        receiver = around.child_by_field_name("receiver") if around.type == "call" else None
        block = around.child_by_field_name("block") if receiver is not None else None
        parameters = block.child_by_field_name("parameters") if block is not None else None
        if parameters is not None and (values := _words_of(receiver)):
            words.setdefault(text_of(parameters).strip("| ").partition(",")[0], values)
        around = around.parent
    return words


def _words_of(receiver: Node | None) -> list[str]:
    """Return the literal words of a list, the keys of a hash, or those of a constant of the file
    that is one: `NAMES = %w[get post].freeze`.
    """
    if receiver is not None and receiver.type == "constant":
        receiver = _value_of_constant(receiver)
    if receiver is not None and _OTHER_WORDS.search(receiver.text or b""):
        return []
    while receiver is not None and receiver.type == "call":
        receiver = receiver.child_by_field_name("receiver")
    if receiver is None or receiver.type not in (*_LISTS, "hash"):
        return []
    words = (child.child_by_field_name("key") or child for child in receiver.named_children)
    return [text_of(word).strip("'\":") for word in words if word.type in _WORDS]


def _value_of_constant(name: Node) -> Node | None:
    """Return the value that a scope around a constant's name assigns to it."""
    around = name.parent
    while around is not None:
        for at in range(min(around.named_child_count, _CONSTANTS_MAX)):
            value = around.named_child(at)
            if value is not None and value.type == "assignment" and value.named_children[0].text == name.text:
                return value.named_children[-1]
        around = around.parent
    return None
