"""Tests and texts that belong to a piece of code, by names alone."""

import pytest

from cortex.ranking.related import (
    RelatedTest,
    find_mentions,
    mention_query,
    names_of_tests,
    order_tests,
    pick_names,
)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/auth/session.py", "test_session.py"),
        ("pkg/session.go", "session_test.go"),
        ("src/Session.ts", "Session.test.ts"),
        ("src/session.ts", "session.spec.ts"),
        ("lib/session.rb", "session_spec.rb"),
        ("src/main/java/Session.java", "SessionTest.java"),
        ("Auth/Session.cs", "SessionTests.cs"),
        ("src/session.cc", "session_unittest.cc"),
        ("src/auth/index.ts", "auth.test.ts"),
        ("src/auth/__init__.py", "test_auth.py"),
        ("src/auth/session.py", "session.py"),
        ("Makefile", "test_Makefile"),
    ],
)
def test_a_file_has_tests_named_by_the_conventions_of_its_language(path, name):
    assert name in names_of_tests(path)


def test_tests_are_ordered_by_evidence_then_by_nearness():
    mentioned, alike, calling, near = (
        RelatedTest("t/a.py"),
        RelatedTest("t/b.py"),
        RelatedTest("t/c.py"),
        RelatedTest("src/auth/t.py"),
    )
    mentioned.add("mentions", 4)
    alike.add("name")
    calling.add("calls", 9, "test_it")
    calling.add("calls", 12, "test_more")
    near.add("mentions")
    ordered = order_tests([mentioned, alike, calling, near], "src/auth/session.py")
    assert [test.file for test in ordered] == ["t/c.py", "t/b.py", "src/auth/t.py", "t/a.py"]
    assert (calling.line, calling.names, calling.why) == (9, ["test_it", "test_more"], ["calls"])


def test_names_worth_looking_for_are_the_longer_ones_without_their_scopes():
    names = ["Store.__init__", "Store.refresh_token", "Store", "x", "Store.load"]
    assert pick_names(names) == ["refresh_token", "Store", "load"]
    assert mention_query(pick_names(names), ["src/store.py"]) == (
        '"refresh_token" OR "Store" OR "load" OR "src/store.py"'
    )
    assert mention_query([]) == ""


def test_tests_that_only_import_the_file_count_where_nothing_surer_is_there():
    calling, importing = RelatedTest("t/a.py"), RelatedTest("t/b.py")
    importing.add("imports")
    assert order_tests([calling, importing], "src/a.py")[-1].file == "t/a.py"
    calling.add("calls", 3, "test_it")
    assert [test.file for test in order_tests([calling, importing], "src/a.py")] == ["t/a.py"]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Call <em>refresh_token</em> first", ["refresh_token"]),
        ("the <em>RefreshToken</em> type", []),
        ("<em>load</em> the file", []),
        ("`<em>load</em>` the file", ["load"]),
        ("store.<em>load</em>", ["load"]),
        ("<em>load</em>(path)", ["load"]),
        ("how <em>loads</em>(x) differs", []),
        ("see src/<em>store.py</em> for it", ["store.py"]),
        ("see my-<em>store.py</em>", []),
        ("Store#<em>load</em>", ["load"]),
    ],
)
def test_a_text_mentions_a_name_that_it_holds_as_code(line, names):
    assert find_mentions([line], ["refresh_token", "load"], ["store.py"]) == names
