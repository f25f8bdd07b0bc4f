"""The name that a line declares: a property, an entry of an enum, a constant, an attribute of a
module, a key of a file of data; and local variables with the name of the definition around them,
which are no uses of it. Pure.
"""

import re
from collections.abc import Mapping

from cortex.ask.lines.code_words import only_code, word_pattern
from cortex.ask.lines.indented_blocks import signature_end
from cortex.ask.lines.receivers import Owner
from cortex.terms.languages import language_of

#: annotations of a declaration in its line, and the reach of a setter: `@Column(name = "id")`,
#: `#[serde(skip)]`, `private(set)`
_ANNOTATION = re.compile(
    r"@(?!interface\b)[A-Za-z_][\w.:]*(?:\((?:[^()]|\([^()]*\))*\))?|#?!?\[[^\]]*\]|\(set\)"
)
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")
#: words, then the name, then the text behind a name that is declared
_DECLARED = re.compile(
    r"\s*((?:[\w.$*&?:]+\s+)*?)[:$]?((?!\d)\w+)[?!]?(?=:(?!:)|\s+:\s|\s*(?:=(?![=~])|[;,{(]|\Z))"
)
_IN_GO = re.compile(r"\s*((?:(?:var|const)\s+)?)((?!\d)\w+)\b(?![.(:]|\s*:=)")
_IN_ELIXIR = re.compile(r"\s*@(?:(?:spec|callback|macrocallback|type|typep|opaque)\s+)?([a-z_]\w*[?!]?)")
#: a key, or the name of a resource
_KEY = re.compile(r"\s*-?\s*[\"']?([\w.@/-]+)[\"']?\s*[:=]")
_IN_XML = re.compile(r"\b(?:name|android:id|id|key)=\"(?:@\+id/)?([\w.:-]+)\"")
#: words that begin statements and blocks, or parts of a declaration of another name
_NO_NAMES = frozenset(
    "alias await break case catch class companion continue defer defexception defstruct deinit do elif else end enum except extends finally "
    "for from func fun fn get go goto guard if implements import in include init interface internal is loop match "
    "module namespace new object of open override package pass private protected protocol public raise require "
    "rescue return set static struct super switch then this throw trait try unless until use using when where while "
    "with yield".split()
)
_STATEMENTS = _NO_NAMES - frozenset(
    "case class companion enum func fun get internal object open override private protected public set static "
    "struct class new in".split()
)
#: a name that its file alone can use
_PRIVATE = {
    "kotlin": re.compile(r"\s*(?:@\S+\s+)*private\b"),
    "swift": re.compile(r"\s*(?:@\S+\s+)*(?:private|fileprivate)\b"),
    "elixir": re.compile(r"\s*@"),
}


def find_declared_name(path: str, text: str, number: int, owner: Owner | None = None) -> str:
    """Return the name that line `number` of a file declares directly in `owner`, or, without one,
    outside of all functions; "" for none.
    """
    lines = text.split("\n")
    if not 0 < number <= len(lines):
        return ""
    language = language_of(path)
    line = lines[number - 1]
    if language.name == "xml" or language.kind == "data":
        match = (_IN_XML.search if language.name == "xml" else _KEY.match)(line)
        return match[1] if match else ""
    first = owner.start if owner else 1
    code = only_code(path, "\n".join(lines[first - 1 : number])).split("\n")
    if language.name == "elixir" and (match := _IN_ELIXIR.match(code[-1])):
        return match[1]
    depth = sum(line.count(mark) for line in code[:-1] for mark in "({[")
    depth -= sum(line.count(mark) for line in code[:-1] for mark in ")}]")
    if language.comment != "#" and not (depth == 1 if owner else depth <= 1):
        return ""
    declared = _TYPE_ARGUMENTS.sub("", _TYPE_ARGUMENTS.sub("", _ANNOTATION.sub(" ", code[-1]))).rstrip()
    match = (_IN_GO if language.name == "go" else _DECLARED).match(declared)
    if match is None:
        return ""
    before, name = match[1].split(), match[2]
    is_call = declared[match.end() :].lstrip()[:1] == "(" and not (owner or before)
    is_none = is_call or name in _NO_NAMES or not _STATEMENTS.isdisjoint(before)
    return "" if is_none else name


def is_private(path: str, line: str) -> bool:
    """Whether a line outside of all types declares a name for its file alone."""
    pattern = _PRIVATE.get(language_of(path).name)
    return pattern is not None and pattern.match(line) is not None


def find_local_lines(path: str, lines: Mapping[int, str], word: str) -> set[int]:
    """Return the lines of a definition that hold its name as a variable alone, where it assigns to
    one, `top = base(user)`, or has a parameter of the name. `lines`: those of the definition.
    """
    code = dict(zip(lines, only_code(path, "\n".join(lines.values())).split("\n"), strict=True))
    name = re.escape(word)
    assigned = re.compile(rf"(?<![\w.@$:>]){name}(?:\s*,\s*\w+)*\s*:?=(?![=>~])")
    parameter = re.compile(rf"[(,|]\s*(?:\w+[\s&*]+)?[&*]*{name}\s*[,)|:=]")
    first = min(lines)
    head = " ".join(
        code[number] for number in range(first, signature_end(lines, first) + 1) if number in code
    )
    if not (parameter.search(head) or any(assigned.search(text) for text in code.values())):
        return set()
    bare = re.compile(rf"(?<![.>@:$]){word_pattern(word, path).pattern}(?!\s*\()")
    return {
        number
        for number, text in code.items()
        if number != first
        and (at := [match.start() for match in word_pattern(word, path).finditer(text)])
        and at == [match.start() for match in bare.finditer(text)]
    }
