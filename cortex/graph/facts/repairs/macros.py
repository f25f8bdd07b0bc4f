"""Macros that hide code from the grammar, as pure text.

* items inside the braces of a Rust macro, `cfg_rt! { mod task; }`: read as if outside of it
* calls in the text of a C macro
* macros in C++ that can be read as names or types, so that no error of the parser shows them,
  `class SHOP_API Disk {`: replaced by blanks (`unknown_words` finds the others)

The grammar sees the inside of a Rust macro as a list of tokens. If it parses as items it nearly
always is a list of items, and some crates declare whole modules like this.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import chain_of
from cortex.graph.facts.grammars import Syntax

#: how often a line of a file is parsed again, for nested macros
READ_AGAIN_MAX = 8
#: characters of a class before a macro in it
CLASS_MAX = 60_000

_OPEN = re.compile(r"([ \t]*)[a-z_]\w*(?:::\w+)*![ \t]*\{[ \t]*")
_ITEM = re.compile(
    r"[ \t]*(?:#!?\[|//|/\*|pub\b|mod\b|use\b|impl\b|fn\b|async\b|unsafe\b|const\b|static\b|struct\b|enum\b|trait\b|type\b|extern\b"
    r"|\w+!)"
)
#: in the text of a C macro: text that is no call, or a name before a parenthesis
_CALL = re.compile(
    r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|//[^\n]*|(?:\.|->|\#)\s*\w+'
    r"|((?:[A-Za-z_]\w*\s*::\s*)*[A-Za-z_]\w*)\s*\(",
    re.DOTALL,
)
_NO_CALLS = frozenset(
    "if while for switch return sizeof defined typeof __typeof__ __attribute__ __extension__ alignof _Alignof "
    "_Static_assert static_assert decltype catch void int char long asm __asm__ __declspec".split()
)

#: in a macro's text: an assignment, a call at its begin, a parenthesis
_ASSIGNED = re.compile(r"(?<![=!<>+\-*/%&|^])=(?!=)")
_VALUE = re.compile(r"((?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)\s*\(")
_BRACKET = re.compile(r"[()]")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NO_NEWLINE = re.compile(r"[^\n]")

#: a macro as C++ projects name them, arguments of one, and several; and what may be between
#: `class` and a name: such a macro, one that exports or annotates, an attribute
_MACRO = r"[A-Z][A-Z0-9]*_[A-Z0-9_]*"
_ARGUMENTS = r"\((?:[^()\n]|\([^()\n]*\))*\)"
#: arguments of a macro that is a result's type: `SHOP_ENABLE_IF((Same<Bare<T>>), (Disk&)) save(`
_DEEP_ARGUMENTS = rf"\((?:[^()\n]|{_ARGUMENTS})*\)"
#: further lines of such macros, and several lines of them, the first of which is no call
_MORE_LINES = rf"(?:[ \t]*\n[ \t]*{_MACRO}(?:{_ARGUMENTS})?(?=[ \t]*\n)){{0,8}}"
_MACRO_LINES = f"{_MACRO}{_MORE_LINES}"
_FIRST_MACROS = rf"(?:{_MACRO}(?:{_ARGUMENTS})?[ \t]+)+"
_EXPORTS = r"\w*(?:[Ee]xport|EXPORT|_api\b|visib|Owner|Pointer)\w*"
_GAP = r"(?:[ \t]+|[ \t]*\n[ \t]*)"
_TEXT_ARGUMENT = r"\(\s*(?:\"(?:\\.|[^\"\\\n])*\"\s*)+\)"
_MARK = rf"(?:(?:[A-Z][A-Z0-9_]+|{_EXPORTS})(?:{_ARGUMENTS}|{_TEXT_ARGUMENT})?{_GAP}|\[\[[^\]\n]*\]\]{_GAP})"
_ELSE = re.compile(r"\s*else\b")
_CLASS_HEAD = re.compile(r"\b(?:class|struct|union)\b[^;{}()]*\Z")
#: blanks and comments in the text of a macro, which may go on in the next line; the begin of a name
#: space, whose name may be made by another macro if it is inline
_PAUSE = r"(?:[ \t]|\\\n|/\*(?:[^*]|\*(?!/)){0,300}\*/)"
_SPACE = (
    rf"(?:inline{_PAUSE}+namespace\b(?:[\w:]|{_PAUSE}|\([^()]{{0,300}}\))*|namespace\b(?:[\w:]|{_PAUSE})*)\{{"
)
#: a macro that opens name spaces, or closes them: `#define SHOP_BEGIN namespace shop {`
_SPACES = re.compile(
    rf"(?m)^[ \t]*#[ \t]*define[ \t]+([A-Z]\w*+){_PAUSE}+((?:(?:{_SPACE}|[A-Z]\w*+\b){_PAUSE}*)+|\}}(?:{_PAUSE}|\}}|[A-Z]\w*+\b)*)(?://.*)?$"
)
#: in the text of such a macro: a name space, a comment, or the name of another; characters of it
_OTHER_SPACE = re.compile(rf"{_SPACE}|{_PAUSE}|([A-Z]\w*+)")
SPACE_CHARS_MAX = 4000
#: uses of such macros in a file
SPACES_MAX = 500
#: what stands for a macro before the block of a name space, `SHOP_NAMESPACE {`; its names
_UNNAMED_SPACE = "namespace"
_OPENED_SPACE = re.compile(r"\bnamespace[ \t]+([A-Za-z_]\w*)(?![\w(]|[ \t]*=)")
#: texts, comments and directives, which open none
_OPENS_NONE = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|/\*.*?\*/|//.*|\busing\s+namespace\b", re.DOTALL)
_SPACE_ARGUMENTS = re.compile(rf"{_PAUSE}|\([^()]*\)")
#: a macro without parameters, with its value; values that only annotate, and those that may stay
_PLAIN_MACRO = re.compile(r"#[ \t]*define[ \t]+([A-Za-z_]\w*+)(?!\()[ \t]*+([^\n]*)")
_ANNOTATES = re.compile(
    r"(?:(?:const|constexpr|consteval|inline|noexcept|_NOEXCEPT|override|final|__forceinline|__inline|throw\(\)"
    r"|__attribute__\s*\(\((?:[^()\n]|\([^()\n]*\))*\)\)|__declspec\([^()\n]*\)|\[\[[^\]\n]*\]\])\s*)*(?://[^\n]*|/\*[^\n]*\*/\s*)?"
)
_KEPT_VALUES = frozenset({"const", "constexpr", "inline", "noexcept"})
#: words that stay if a file defines them: `noexcept(false)`, `if constexpr (…)`
_KEYWORDS = _KEPT_VALUES | {"consteval", "override", "final"}
#: a line of a directive, with its continuations
_DIRECTIVE_LINE = r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*+"
#: comments in it, which end a directive for the grammar
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_NO_LINE_END = re.compile(r"[^\n\\]")
#: words before a conversion's definition outside of its class, `inline Disk::operator Tape()`:
#: behind them the grammar takes `Disk::operator` for a type
_BEFORE_CONVERSION = re.compile(
    r"\b(?:(?:inline|constexpr)\s+)+(?=(?:[A-Za-z_]\w*+(?:<(?:[^;()<>\n]|<[^;()<>\n]*>)*>)?::)+operator\s+[A-Za-z_])"
)
#: such macros of any file, with the name as their argument: `SHOP_NAMESPACE_BEGIN(detail)`
_NAMED_SPACE = re.compile(
    r"(?m)^[ \t]*[A-Z]\w*(?:NAMESPACE_(?:(?P<begin>BEGIN|OPEN)|END|CLOSE)|(?P<open>BEGIN|OPEN)_NAMESPACE|(?:END|CLOSE)_NAMESPACE)"
    r"\((?P<name>[A-Za-z_]\w*)\)[ \t]*$"
)
#: arguments of a macro that defines a variable, `ABSL_FLAG(bool, fast, true, "…");`: a type first
_VARIABLE_ARGUMENTS = (
    r"(?:(?:std::)?(?:bool|int|long|short|char|float|double|unsigned|size_t|string|u?int\d+(?:_t)?)\s*,)"
    r"(?:[^()\"]|\"(?:\\.|[^\"\\\n])*\")*"
)
#: the types that own a function, its name, `Disk<T>::`, `~Disk(`, and its result, also on a line of
#: its own
_OF_TYPE = r"[A-Za-z_]\w*(?:<[^;()\n]*>)?::"
_RESULT = r"[A-Za-z_][\w:]*(?:<[^;()\n]*>)?[\w:]*(?:[ \t*&]+|[ \t*&]*\n[ \t]*[*&]*)"
#: words that are no type before a name: a word in capitals before them may be a type
_NO_RESULT = r"(?:[A-Z0-9_]+|const|volatile|static|inline|constexpr|operator|extern|return|else|new|delete|case|goto|throw)\b"
_FUNCTION_NAME = r"~?(?:operator[^\w\s(]{1,3}|[A-Za-z_]\w*)[ \t]*\("
#: positions of marks: between `class` and the type's name; before a result and a function's name
#: (an error, but so frequent that a search for errors costs more); alone on a line; a macro's
#: arguments at the top; before a block, `SHOP_TRY {`; an access label; before the next block,
#: `SHOP_CATCH(...) {`; `typename` before an instance, which the grammar does not expect everywhere
_MARKS = re.compile(
    rf"(?m)\b(?:class|struct|union|enum(?=\s+(?:[A-Z][A-Z0-9]*_|\[\[))){_GAP}(?P<type>{_MARK}+)(?=(?!final\b)[A-Za-z_]\w*(?:<[^;{{}}\n]*>)?\s*(?:final\s*)?(?:\{{|:[^:]|$))"
    rf"|^[ \t]*(?P<first>{_FIRST_MACROS}|[A-Z][A-Z0-9]+[ \t]+(?!{_NO_RESULT}))(?={_RESULT}(?:{_OF_TYPE})*{_FUNCTION_NAME})"
    rf"|(?:(?<=[;{{}}>:\n])|(?<=\*/))[ \t]*\n[ \t]*(?P<alone>{_MACRO_LINES})[ \t]*$(?!\s*\{{)"
    rf"|(?<=>)\s+(?:(?:friend|static|inline)[ \t]+)*(?P<result>{_MACRO}{_DEEP_ARGUMENTS})(?=\s+{_FUNCTION_NAME})"
    rf"|^[A-Z][A-Z0-9_]*\((?P<given>{_VARIABLE_ARGUMENTS})\)(?=[ \t]*;)"
    rf"|\b(?:if|while)(?:[ \t]+constexpr)?[ \t]+(?P<condition>{_MACRO})(?=[ \t]*\()"
    rf"|\b(?P<block>{_MACRO})(?=[ \t]*(?://[^\n]*)?\n?[ \t]*\{{)"
    rf"|^[ \t]*(?:(?P<label>{_MACRO}:)[ \t]*$|(?P<caught>[A-Z][A-Z0-9_]*_CATCH{_ARGUMENTS})(?=\s*\{{))"
    rf"|(?:(?<=[(,={{])[ \t]*|(?<=return)[ \t]+)(?P<named>typename\b)(?=[ \t]++[\w:]++(?:<[^;()\n]{{0,300}}>[\w:]*+)?\()"
    rf"|^(?P<indent>[ \t]*)(?:(?:\}}[ \t]*)?else[ \t]+)?(?P<branch>[A-Z][A-Z0-9_]+)(?={_DEEP_ARGUMENTS}\s*\{{)"
)

#: lines of comments, and of a directive, that are looked through before a mark
LINES_BACK = 30
#: a test with a text as its name, behind its fixture: `TEST_CASE_METHOD(Fix, "Saves", "[disk]") {`
_TEST = re.compile(
    r"(?m)^(?P<head>[ \t]*[A-Z][A-Z_]*(?:METHOD|FIXTURE)[A-Z_]*\(\s*)(?P<fixture>[A-Za-z_]\w*)(?P<gap>\s*,\s*)"
    r"\"(?P<name>[^\"\\\n]*)\"(?P<rest>(?:[^(){};\"]|\"(?:\\.|[^\"\\\n])*\")*)(?P<end>\)\s*\{)"
)

#: a struct whose head is a macro's call, `TEST_GROUP(Disk) {`, `SHOP_TYPE(Disk, Base) {`
_STRUCT = re.compile(
    r"\n(?P<indent>[ \t]*)(?P<macro>[A-Z][A-Z0-9_]+)\((?P<name>[A-Za-z_]\w*)(?P<base>[ \t]*,[ \t]*[\w:]+)?\)(?=\s*\{)"
)
#: begins such a struct; ends its name if tests have its members: the tested class may have the name
_STRUCT_HEAD, GROUP = "struct ", "Tests"
#: a line that only the block of a function has
_STATEMENT = re.compile(
    r"(?:return|if|for|while|switch|throw|delete)\b|(?:EXPECT|ASSERT|CHECK|REQUIRE)\w*\("
    r"|(?!static_assert)(?P<called>\w*[a-z]\w*(?:(?:\.|->|::)\w+)*)\([^;{}]*\);"
)

#: fast searches, by first characters, for the places of marks: `type`; the line of `first`,
#: `alone` and `given`; the end of `block`
_TYPES = re.compile(rf"(?:class|struct|union|enum){_GAP}(?:[A-Z]|\[\[|{_EXPORTS})")
_LINES = re.compile(r"(?m)\n[ \t]*[A-Z][A-Z0-9_]*+(?:[ \t]+[A-Za-z_]|\(|:?[ \t]*$)")
_BLOCKS = re.compile(r"_[A-Z0-9]*+[ \t]*+(?://[^\n]*+)?\n?[ \t]*+\{")
_RESULTS = re.compile(r">(?=\s+(?:(?:friend|static|inline)[ \t]+)*[A-Z][A-Z0-9]*_[A-Z0-9_]*\()")
_DEPENDENT = re.compile(r"typename[ \t]+[\w:]")
_CONDITIONS = re.compile(r"\b(?:if|while)(?:[ \t]+constexpr)?[ \t]+[A-Z][A-Z0-9]*+_[A-Z0-9_]*+[ \t]*\(")
_BRANCHES = re.compile(r"\belse[ \t]+[A-Z][A-Z0-9_]+\(")
_UPPER = f"{string.ascii_uppercase}{string.digits}_"

#: the last argument of a macro that is a result, without its parentheses
_RESULT_INSIDE = re.compile(r"\(?([^(),]*)\)?\)$")
#: what ends the text before a statement: a character, or the line of a directive
_ENDS, _DIRECTIVE = (";", "{", "}"), re.compile(r"[ \t]*#")
#: begins the macros of tests with the fixture behind the name
_FIXTURE_LAST = "BOOST_FIXTURE_"
#: macros with a call on their first argument as the second
_EXPECTS = frozenset((b"EXPECT_CALL", b"ON_CALL"))


def unmark(text: str) -> str:
    """Return C++ without the marks unknown to its grammar, with as many lines.

    The rest of a line stays at its column.
    """
    if "\\\n" in text and "*/" in text:
        text = re.sub(f"(?m){_DIRECTIVE_LINE}", _blank_comments, text)
    if "METHOD" in text or "FIXTURE" in text:
        text = _TEST.sub(_name_test, text)
    if annotations := _annotations(text):
        pattern = rf"(?m){_DIRECTIVE_LINE}|\b({'|'.join(annotations)})\b"
        text = re.sub(pattern, lambda match: annotations[match[1]] if match[1] else match[0], text)
    if "::operator " in text:
        text = _BEFORE_CONVERSION.sub(lambda match: _NO_NEWLINE.sub(" ", match[0]), text)
    if "};" in text:
        text = _STRUCT.sub(partial(_open_struct, {}), text)
    if "namespace" in text and "define" in text and (spaces := _space_macros(text)):
        pattern = rf"(?m)(?<!\\\n)^[ \t]*({'|'.join(spaces)})[ \t]*$"
        text = re.sub(pattern, lambda match: spaces[match[1]], text, count=SPACES_MAX)
    if "_NAMESPACE" in text or "NAMESPACE_" in text:
        text = _NAMED_SPACE.sub(_open_space, text)
    parts: list[str] = []
    done = 0
    for at in sorted(set(_mark_starts(text))):
        if at >= done and (match := _MARKS.match(text, at)) is not None:
            parts += text[done:at], _blank_mark(match)
            done = match.end()
    return "".join((*parts, text[done:])) if parts else text


def _annotations(text: str) -> dict[str, str]:
    """Return the macros of a file that stand for nothing, or for words that only annotate, wherever
    it defines them, with what takes their place: such a word, or blanks.
    """
    values: dict[str, list[str]] = {}
    for macro in _PLAIN_MACRO.finditer(text):
        if not text[text.rfind("\n", 0, macro.start()) + 1 : macro.start()].strip():
            values.setdefault(macro[1], []).append(macro[2].strip())
    return {
        name: next((v for v in written if v in _KEPT_VALUES and len(v) <= len(name)), "").ljust(len(name))
        for name, written in values.items()
        if name not in _KEYWORDS and any(written) and all(map(_ANNOTATES.fullmatch, written))
    }


def _space_macros(text: str) -> dict[str, str]:
    """Return the macros that open or close name spaces, with what they stand for; a macro may name
    others above it.
    """
    spaces: dict[str, str] = {}

    def expand(match: re.Match[str]) -> str:
        return spaces.get(match[1], match[1]) if match[1] else match[0]

    for name, written in _SPACES.findall(text):
        opened = _OTHER_SPACE.sub(expand, written)
        if name not in spaces and len(opened) <= SPACE_CHARS_MAX and not _names_macro(opened):
            spaces[name] = opened
    return {name: _SPACE_ARGUMENTS.sub(" ", opened) for name, opened in spaces.items()}


def _names_macro(text: str) -> bool:
    return any(match[1] for match in _OTHER_SPACE.finditer(text))


def _open_space(match: re.Match[str]) -> str:
    return f"namespace {match['name']} {{" if match["begin"] or match["open"] else "}"


def _blank_comments(directive: re.Match[str]) -> str:
    """Return a directive of several lines without comments, but with the one that ends it: blanks
    in the place of a value make the next line a value, and an open comment goes on behind it.
    """
    text = directive[0]
    if "*/" not in text or "\\\n" not in text:
        return text
    end = len(text.rstrip())
    return _COMMENT.sub(
        lambda comment: comment[0] if comment.end() >= end else _NO_LINE_END.sub(" ", comment[0]), text
    )


def _name_test(match: re.Match[str]) -> str:
    """Return the head of a test with names as arguments, as many characters and lines."""
    name = re.sub(r"\W", "_", match["name"])
    rest = _NO_NEWLINE.sub(" ", match["rest"])
    return f"{match['head']}{match['fixture']}{match['gap']}_{name} {rest}{match['end']}"


def _open_struct(ends: dict[str, int], match: re.Match[str]) -> str:
    """Return a struct's head in place of a macro's call, if the braces after it end as a struct's
    do: `TEST_GROUP(Disk)` becomes `struct DiskTests`. `ends`: indent → the brace last looked up.
    """
    text, indent = match.string, match["indent"]
    if ends.get(indent, -1) < match.end():
        ends[indent] = text.find(f"\n{indent}}}", match.end()) % (len(text) + 1)  # the text's end for none
    end = ends[indent] + len(indent) + 2
    ending = GROUP if "TEST" in match["macro"] else ""
    name = f"{match['name']}{ending}{(match['base'] or '').replace(',', ':')}"
    width = len(match[0]) - len(f"\n{indent}{_STRUCT_HEAD}")
    fits = text[end : end + 1] == ";" and len(name) <= width
    if not fits or _is_block(text[text.find("{", match.end()) + 1 : end - 1], match["name"]):
        return match[0]
    return f"\n{indent}{_STRUCT_HEAD}{name.rjust(width)}"


def _is_block(body: str, name: str) -> bool:
    """Return True if the lines at the margin of a body are statements: it is no struct's."""
    lines = [line for line in body.splitlines() if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    statements = (_STATEMENT.match(line, margin) for line in lines)
    return any(statement["called"] != name for statement in statements if statement)


def _mark_starts(text: str) -> Iterator[int]:
    """Yield the places where a mark may begin.

    A trial at each character of a file takes as long as its parser; these searches take a tenth.
    """
    yield 0
    for match in _TYPES.finditer(text):
        yield match.start()
    for match in _LINES.finditer(text):
        yield match.start() + 1
        yield _scan_back(text, match.start(), " \t")
    for match in _BLOCKS.finditer(text):
        yield _scan_back(text, match.start(), _UPPER)
    for match in _RESULTS.finditer(text):
        yield match.end()
    for match in _BRANCHES.finditer(text):
        yield text.rfind("\n", 0, match.start()) + 1
    for match in _CONDITIONS.finditer(text):
        yield match.start()
    for match in _DEPENDENT.finditer(text):
        yield _scan_back(text, match.start(), " \t")


def _scan_back(text: str, at: int, over: str) -> int:
    """Return the first position of the characters before `at` that are all in `over`."""
    while at and text[at - 1] in over:
        at -= 1
    return at


def _blank_mark(match: re.Match[str]) -> str:
    """Return the matched text with blanks in place of the mark."""
    text, kind = match.string, match.lastgroup or ""
    first, last = match.span(kind)
    begin = text.rfind("\n", 0, first) + 1
    if text[begin:first].lstrip().startswith("#"):
        return match[0]  # the macro's own definition
    start = match.start()
    if kind == "block":
        if not _ends_statement(text, first):
            return match[0]
        if _UNNAMED_SPACE in match[0].lower():  # its names are known to the file that defines it
            return _UNNAMED_SPACE.ljust(last - first)
    if kind == "branch":  # `SHOP_IF(x) {…} else {…}`
        return f"{text[start:first]}{'if'.ljust(last - first)}" if _has_else(match) else match[0]
    if kind == "result" and (inside := _RESULT_INSIDE.search(match[kind])) and inside[1].strip():
        blanks = " " * (last - first - len(inside[1]))
        return f"{match[0][: first - start]}{blanks}{inside[1]}"
    return match[0][: first - start] + _NO_NEWLINE.sub(" ", text[first:last]) + match[0][last - start :]


def _has_else(match: re.Match[str]) -> bool:
    """Return True if the block behind a macro's call, which ends at the call's margin, has another
    branch.
    """
    end = match.string.find(f"\n{match['indent']}}}", match.end(), match.end() + CLASS_MAX)
    return end >= 0 and _ELSE.match(match.string, end + len(match["indent"]) + 2) is not None


def _ends_statement(text: str, at: int) -> bool:
    """Return True if a statement may begin behind the text before `at`."""
    if "//" in text[text.rfind("\n", 0, at) + 1 : at]:
        return False
    end, line = 0, at
    for _ in range(LINES_BACK):
        end = _scan_back(text, line, string.whitespace)
        line = text.rfind("\n", 0, end) + 1
        if not text[line:end].lstrip().startswith("//"):
            break
    for _ in range(LINES_BACK):
        if text[line - 2 : line] != "\\\n":  # of a directive in several lines
            break
        line = text.rfind("\n", 0, line - 1) + 1
    return not end or text[end - 1] in _ENDS or _DIRECTIVE.match(text, line, end) is not None


def is_in_class(text: str, at: int) -> bool:
    """Return True if a line is directly in the body of a class."""
    depth, after = 0, max(0, at - CLASS_MAX)
    opened, closed = _last_brace(text, "{", after, at), _last_brace(text, "}", after, at)
    while opened >= 0 or closed >= 0:
        if closed > opened:
            depth, closed = depth + 1, _last_brace(text, "}", after, closed)
        elif depth:
            depth, opened = depth - 1, _last_brace(text, "{", after, opened)
        else:
            return _CLASS_HEAD.search(text, after, opened) is not None
    return False


def _last_brace(text: str, brace: str, after: int, at: int) -> int:
    """Return the last place of a brace before `at`, -1 without one; not of Doxygen's `@{`."""
    while (place := text.rfind(brace, after, at)) > 0 and text[place - 1] in "@\\":
        at = place
    return place


def read_test_macro(node: Node, name: str) -> tuple[str, str] | None:
    """Return (fixture, name) of a test macro, `TEST_F(StoreTest, Saves) {…}`; None for others."""
    if not name.isupper() or node.type != "function_definition" or node.child_by_field_name("type"):
        return None
    declarator = node.child_by_field_name("declarator")
    parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
    names = (
        [parameter.text.decode() for parameter in parameters.named_children if parameter.text]
        if parameters is not None
        else []
    )
    if len(names) != 2 or not all(_WORD.fullmatch(word) for word in names):
        return None
    fixture, test = reversed(names) if name.startswith(_FIXTURE_LAST) else names
    return fixture, test.strip("_") or test


def opened_spaces(text: str) -> list[str]:
    """Return the name spaces that the text of a macro opens, `namespace shop { namespace v1`; `std`
    is no project's.
    """
    return [name for name in _OPENED_SPACE.findall(_OPENS_NONE.sub(" ", text)) if name != "std"]


def macro_value(text: str) -> str:
    """Return the chain of the call that is the value of a C macro, or of what it assigns last; ""
    without one.
    """
    text = _ASSIGNED.split(text.replace("\\\n", " "))[-1].strip()
    while text.startswith("(") and _closing(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    call = _VALUE.match(text)
    if call is None or call[1] in _NO_CALLS or _closing(text, call.end() - 1) != len(text) - 1:
        return ""
    return f"{call[1].lstrip(':').replace('::', '.')}()"


def _closing(text: str, at: int) -> int:
    """Return the place of the parenthesis that closes the one at `at`, -1 without it."""
    depth = 0
    for place in _BRACKET.finditer(text, at):
        depth += 1 if place[0] == "(" else -1
        if not depth:
            return place.start()
    return -1


def macro_calls(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (chain, line, column) of each plain call in a C macro's text.

    Lines count from 0, columns in characters from the line's beginning.
    """
    for match in _CALL.finditer(text):
        if match[1] and match[1] not in _NO_CALLS:
            at = match.start(1)
            chain = "".join(match[1].split()).replace("::", ".")
            yield chain, text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1


def uncover_macros(lines: Sequence[str], reads: Callable[[Sequence[str]], bool]) -> list[str]:
    """Return `lines` with the lines of macros blanked; their number stays the same.

    `reads` tells whether lines parse as items without an error. A macro begins and ends on its own
    lines with the same indentation, as rustfmt writes them.
    """
    output = list(lines)
    closing: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        if line.rstrip().endswith("}"):
            closing.setdefault(line.rstrip(), []).append(at)
    left = READ_AGAIN_MAX * len(lines)
    for at, line in enumerate(lines):
        opened = _OPEN.fullmatch(line)
        if opened is None or at + 1 >= len(lines) or not _ITEM.match(lines[at + 1]):
            continue
        ends = closing.get(f"{opened[1]}}}", [])
        place = bisect_right(ends, at)
        end = ends[place] if place < len(ends) else -1
        left -= max(0, end - at)
        if end > at and left >= 0 and reads(lines[at + 1 : end]):
            output[at] = output[end] = ""
    return output


def mocked_chain(call: Node, syntax: Syntax) -> str:
    """Return the chain of the object in Google Mock's `EXPECT_CALL(disk, Save(1))`; "" for other
    calls.
    """
    argument_list = call.parent
    outer = (
        argument_list.parent if argument_list is not None and argument_list.type == "argument_list" else None
    )
    callee = outer.child_by_field_name("function") if outer is not None else None
    if (
        argument_list is None
        or callee is None
        or callee.text not in _EXPECTS
        or argument_list.named_child_count != 2
    ):
        return ""
    return (
        chain_of(argument_list.named_children[0], syntax) if argument_list.named_children[1] == call else ""
    )
