"""Tests inside files of shipped code: `#[cfg(test)] mod tests` and `#[test]` of Rust. Pure."""

import re

from cortex.terms.paths import is_test

#: ending of files that may hold tests beside shipped code
ENDING = ".rs"
#: name of a module of tests
_MODULE = re.compile(r"(?:[a-z0-9_]+_)?tests?|test_[a-z0-9_]+")
#: an attribute that marks a test, or a module of tests: `#[tokio::test]`, `#[cfg(all(test, unix))]`
_ATTRIBUTE = re.compile(
    r"\s*#\[(?:cfg\((?:all\()?test\b|(?:\w+::)*(?:test|bench|rstest|test_case|quickcheck|proptest)\b(?!\s*=))"
)
#: the scope in the id of a chunk: `code-src/a.rs#tests.reads~2`
_CHUNK_SCOPE = re.compile(r"\.rs#([^~]+)~")


def is_in_tests(path: str, symbol: str) -> bool:
    """Whether a definition, by its qualified name, is a module of tests or inside of one. A
    function may be called `test`, so its own name says nothing.
    """
    if not path.endswith(ENDING) or "test" not in symbol:
        return False
    *scopes, name = symbol.partition("~")[0].split(".")
    return name == "tests" or any(_MODULE.fullmatch(scope) for scope in scopes)


def is_test_code(path: str, symbol: str) -> bool:
    """Whether a definition is a test: by the path of its file, or inside a file of shipped code."""
    return is_test(path) or is_in_tests(path, symbol)


def is_test_chunk(path: str, identity: str) -> bool:
    """Whether a chunk of a file of shipped code is inside a module of tests, by the chunk's id."""
    scope = _CHUNK_SCOPE.search(identity) if path.endswith(ENDING) else None
    return scope is not None and is_in_tests(path, scope[1])


def marks_test(path: str, line: str) -> bool:
    """Whether the line is an attribute that makes the definition below it a test."""
    return path.endswith(ENDING) and _ATTRIBUTE.match(line) is not None
