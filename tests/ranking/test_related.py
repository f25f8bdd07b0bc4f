"""Which tests and texts belong to a piece of code, by names alone."""

import pytest

from cortex.ranking.related import Guard, mention_query, mentions, names_of_tests, order_tests, telling


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


def test_tests_are_ordered_by_what_speaks_for_them_then_by_how_near_they_are():
    mentioned, named, calling, near = (
        Guard("t/a.py"),
        Guard("t/b.py"),
        Guard("t/c.py"),
        Guard("src/auth/t.py"),
    )
    mentioned.add("mentions", 4)
    named.add("name")
    calling.add("calls", 9, "test_it")
    calling.add("calls", 12, "test_more")
    near.add("mentions")
    ordered = order_tests([mentioned, named, calling, near], "src/auth/session.py")
    assert [one.file for one in ordered] == ["t/c.py", "t/b.py", "src/auth/t.py", "t/a.py"]
    assert (calling.line, calling.names, calling.why) == (9, ["test_it", "test_more"], ["calls"])


def test_names_worth_looking_for_are_the_longer_ones_without_their_scopes():
    names = ["Store.__init__", "Store.refresh_token", "Store", "x", "Store.load"]
    assert telling(names) == ["refresh_token", "Store", "load"]
    assert mention_query(telling(names), ["src/store.py"]) == (
        '"refresh_token" OR "Store" OR "load" OR "src/store.py"'
    )
    assert mention_query([]) == ""


def test_tests_that_only_import_the_file_count_where_nothing_surer_is_there():
    calling, importing = Guard("t/a.py"), Guard("t/b.py")
    importing.add("imports")
    assert order_tests([calling, importing], "src/a.py")[-1].file == "t/a.py"
    calling.add("calls", 3, "test_it")
    assert [one.file for one in order_tests([calling, importing], "src/a.py")] == ["t/a.py"]


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
    assert mentions([line], ["refresh_token", "load"], ["store.py"]) == names
