"""Local variables with the name of the definition around them, which are no uses of it. Pure."""

import re
from collections.abc import Mapping

from cortex.ask.lines.code_words import only_code, word_pattern
from cortex.ask.lines.indented_blocks import signature_end


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
