"""Tests inside files of shipped code."""

import pytest

from cortex.terms.code.inline_tests import is_in_tests, is_test_chunk, is_test_code, marks_test


@pytest.mark.parametrize(
    "symbol", ["tests", "tests.reads", "disk.tests.Fake.open", "unit_tests.reads", "test_utils.make"]
)
def test_a_module_of_tests_is_known_by_its_name(symbol):
    assert is_in_tests("src/disk.rs", symbol)
    assert is_test_code("src/disk.rs", symbol)
    assert not is_in_tests("src/disk.py", symbol)


@pytest.mark.parametrize(
    "symbol", ["", "test", "Filter.test", "Tests.run", "latest.reads", "contests.open", "attest"]
)
def test_a_function_or_a_type_with_such_a_name_is_no_module_of_tests(symbol):
    assert not is_in_tests("src/disk.rs", symbol)


def test_a_file_of_tests_is_test_code_whatever_it_defines():
    assert is_test_code("tests/a.py", "Disk.open")
    assert not is_test_code("src/a.py", "tests.open")


def test_a_chunk_is_known_by_the_scope_in_its_id():
    assert is_test_chunk("src/a.rs", "code-src/a.rs#tests.reads~1")
    assert not is_test_chunk("src/a.rs", "code-src/a.rs#Disk.open~1")
    assert not is_test_chunk("src/a.rs", "any other id")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#[test]", True), ("    #[tokio::test(flavor = 1)]", True), ("#[cfg(test)]", True), ("#[rstest]", True),
        ("#[cfg(all(test, unix))]", True), ("#[cfg(not(test))]", False), ("#[testing]", False), ("// #[test]", False),
        ("#[cfg(unix)]", False),
    ],
)  # fmt: skip
def test_a_test_is_known_by_its_attribute(line, expected):
    assert marks_test("src/a.rs", line) is expected
    assert not marks_test("src/a.py", line)
