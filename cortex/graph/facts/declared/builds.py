"""Build constraints of Go files, from `//go:build` or `// +build` above the package and from the
system and processor in the file name, as one expression. Resolution compares them.
"""

import re

from tree_sitter import Node

#: systems and processors in file names and constraints (go/build's lists)
SYSTEMS = frozenset(
    "aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris "
    "wasip1 windows zos".split()
)
PROCESSORS = frozenset(
    "386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 "
    "mips64p32le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm".split()
)
#: ends the names of files that only test builds contain
TESTS = "_test.go"
#: characters of the longest constraint that is read: the parser is recursive
CONSTRAINT_CHARS_MAX = 300

_GO_BUILD = re.compile(r"//go:build\s+(.*)")
_PLUS_BUILD = re.compile(r"//\s*\+build\s+(.*)")


def builds_of(root: Node, path: str) -> str:
    """The condition under which a Go file is built, `(linux || darwin) && !cgo`; "" for none."""
    above: list[str] = []
    for node in root.children:
        if node.type != "comment":
            break
        above.append((node.text or b"").decode("utf-8", "replace"))
    parts = [match[1] for comment in above if (match := _GO_BUILD.match(comment))][:1]
    parts = parts or [
        _plus_build_expression(match[1]) for comment in above if (match := _PLUS_BUILD.match(comment))
    ]
    parts += _conditions_of_name(path)
    text = " && ".join(f"({condition.strip()})" for condition in parts)
    return text if len(text) <= CONSTRAINT_CHARS_MAX else ""


def _plus_build_expression(constraint: str) -> str:
    """Return `linux,amd64 darwin` as an expression."""
    return " || ".join("(" + " && ".join(option.split(",")) + ")" for option in constraint.split())


def _conditions_of_name(path: str) -> list[str]:
    """The conditions in the name `store_linux_amd64.go`; none if the name is only a system's."""
    name = path.rpartition("/")[2].removesuffix(TESTS).removesuffix(".go")
    words = name.split("_")[1:]
    if len(words) > 1 and words[-2] in SYSTEMS and words[-1] in PROCESSORS:
        return words[-2:]
    return words[-1:] if words and words[-1] in SYSTEMS | PROCESSORS else []
