"""Names and wishes that explore reads in a question."""

import pytest

from cortex.ask.exploring.query_symbols import asks_for_users, names_in
from tests.ask.explored_shop import QUESTION, ask, symbols


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("what breaks if MockUtil.getMockHandler changes", ["MockUtil.getMockHandler"]),
        ("who calls Config.load?", ["Config.load"]),
        ("`AbstractHandler::handle()` hangs", ["AbstractHandler::handle"]),
        ("see Store#save and store->drop", ["Store#save", "store->drop"]),
        ("a.b.c and `server.run()`", ["server.run"]),
        ("read_all or getMark in `disk`", ["read_all", "getMark", "disk"]),
        ("open app/main.py or package.json at example.com, e.g. i.e. v1.2.3 … at the end.Then", ["end.Then"]),
        ("operator<", ["operator<", "<", "__lt__"]),
        ("operator ()", ["operator()", "()", "__call__"]),
        ("bool operator[](int)", ["operator[]", "[]", "__getitem__"]),
        ("static func +", ["operator+", "+", "__add__"]),
        ("<=>", ["operator<=>", "<=>"]),
        ("if a < b", []),
    ],
)
def test_names_are_seen_with_their_owners(query, names):
    assert names_in(query) == names


@pytest.mark.parametrize(
    "query",
    [
        "what breaks if Tree.lookup changes",
        "what breaks if the signature of Tree::lookup changes in the server of raw requests",
        "why does Tree#lookup return None for a raw request",
        "who calls `Tree.lookup()`",
    ],
)
def test_a_name_with_its_owner_is_looked_up_and_shown_with_its_callers(shop, query):
    answer = ask(shop, query)
    shown = symbols(answer)
    assert "Tree.lookup" in shown
    assert shown[0] == "Tree.lookup" or query.startswith("why")
    callers = [caller["symbol"] for caller in answer.get("callers", ())]
    assert "Router.dispatch" in [*shown, *callers]
    assert answer["tests"][0]["file"] == "tests/test_tree.py"


def test_an_ambiguous_or_unknown_name_leaves_a_question_as_it_is(shop):
    best = symbols(ask(shop, QUESTION))
    assert symbols(ask(shop, f"{QUESTION} None.such"))[: len(best)] == best


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what breaks if a.b changes", True), ("who calls x?", True), ("where is x used", True), ("rename x", True),
        ("all callers of x", True), ("how does x call y", False), ("how is a change log read", False), ("what is x for", False),
        ("`a.b` gets a parameter. Which lines call it?", True), ("what happens if I remove `a.b`", True), ("usages of a.b", True),
        ("Deprecate the 'a' parameter expression, and Core will emit a warning if used by any Mojo", False),
        ("Remove a.b and its expression from the model builder, as nobody needs them in new versions", False),
        ("Fix a.b, which is called by the parser for each usage of the lexer with an empty line", False),
        ("Before I rename a.b in the model builder, show me every line that I have to edit", True),
        ("List all lines in the whole project and in its tests that are users of a.b, please", True),
        ("The parser fails on a.b with an empty line of input. Is it used by anybody else?", True),
        ("Please list all callers of a.b in the whole project because I rename it", True),
        ("I need to find all usages of a.b across the repository, tests included", True),
        ("I'd like to see all the callers of a.b in the code base, thanks", True),
        ("Removing a listener in a.b skips the next", False), ("a.b changes the order when it is called twice", False),
    ],
)  # fmt: skip
def test_a_query_about_users_is_known_by_its_words(query, expected):
    assert asks_for_users(query) is expected
