"""The box of search: filters in the query, their completion, and the history of questions."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from cortex.front.http.page.parts.query_filters import COMPLETIONS_MAX, FilteredQuery, complete, read_filters
from cortex.system.errors import BadRequest
from tests.wait_until import until

LANGUAGES = ("python", "go", "markdown")
PATHS = ("src/auth/session.py", "src/auth/tickets.py", "src/web/login.py", "docs/a file.md", "setup.py")


@pytest.mark.parametrize(
    ("query", "filtered"),
    [
        ("find  it", FilteredQuery("find  it")),
        ("lang:go find it", FilteredQuery("find it", "go")),
        ("find lang:golang it", FilteredQuery("find it", "go")),
        ("find kind:code path:src/**", FilteredQuery("find", "", "code", ("src/**",))),
        ('file:"a b/c" -path:tests x', FilteredQuery("x", "", "", ("a b/c",), ("tests",))),
        ("path:a path:b x", FilteredQuery("x", "", "", ("a", "b"))),
        ('"lang:go" find', FilteredQuery('"lang:go" find')),
        ("std::path:thing language:go", FilteredQuery("std::path:thing language:go")),
        ("lang: find", FilteredQuery("lang: find")),
        ("lang:go", FilteredQuery("", "go")),
    ],
)
def test_filters_are_words_of_their_own_in_a_query(query, filtered):
    assert read_filters(query, LANGUAGES) == filtered


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("lang:pythn x", "did you mean|python"),
        ("kind:cod x", "code"),
        ("-lang:go x", "Only a path can be excluded"),
    ],
)
def test_a_filter_that_fits_nothing_is_one_sentence(query, words):
    with pytest.raises(BadRequest, match=words):
        read_filters(query, LANGUAGES)


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("la", ["lang:"]),
        ("-pa", ["-path:"]),
        ("lang:", ["lang:python", "lang:go", "lang:markdown"]),
        ("lang:p", ["lang:python"]),
        ("lang:python", []),
        ("kind:d", ["kind:documentation", "kind:definitions", "kind:data"]),
        ("path:s", ["path:src/", "path:setup.py"]),
        ("-path:src/", ["-path:src/auth/", "-path:src/web/"]),
        ("path:src/auth/s", ["path:src/auth/session.py"]),
        ("path:docs/", ['path:"docs/a file.md"']),
        ("refresh", []),
        ("", []),
    ],
)
def test_a_begun_filter_is_completed(word, words):
    assert complete(word, LANGUAGES, PATHS) == words


def test_completions_are_bounded():
    assert len(complete("path:", LANGUAGES, (f"{number}.py" for number in range(10_000)))) == COMPLETIONS_MAX


@pytest.mark.parametrize("way", ["meaning", "words", "expression"])
def test_filters_in_the_box_restrict_every_query_type(server, way):
    def results_of(query):
        status, _, html = server.ask("POST", "/page/search/find", {"query": query, "way": way})
        assert status == 200
        return html.decode()

    assert "docs/auth.md" in results_of("refresh_token")
    for query in (
        "refresh_token lang:python",
        "refresh_token path:src",
        "refresh_token -path:docs -path:tests",
    ):
        assert "src/auth/session.py" in results_of(query)
        assert "docs/auth.md" not in results_of(query)
    assert "There is no language" in results_of("refresh_token lang:cobol")
    assert "to the filters" in results_of("lang:python")


def test_keys_alone_complete_a_filter(page):
    page.open("/search?way=words")
    page.type("#query", "rotate la")
    page.shows("lang:", "#completions")
    page.press(Keys.TAB)
    page.shows("lang:python", "#completions")
    page.press(Keys.ARROW_DOWN, Keys.ENTER)
    assert page.find("#query").get_attribute("value") == "rotate lang:python "
    assert not page.find("#completions").is_displayed()
    page.press("path:src/a")
    page.shows("path:src/auth/", "#completions")
    assert page.serious_faults() == []
    page.press(Keys.TAB)
    page.shows("path:src/auth/session.py", "#completions")
    page.press(Keys.ESCAPE)
    assert not page.find("#completions").is_displayed()
    assert page.find("#query").get_attribute("value") == "rotate lang:python path:src/auth/"
    page.shows("src/auth/session.py", "#results")


def test_back_leads_to_the_question_before(page):
    page.open("/search?way=words")
    page.type("#query", "rotate")
    page.press(Keys.ENTER)
    page.shows("src/auth/session.py", "#results")
    page.type("#query", "colour")
    page.press(Keys.ENTER)
    page.shows("src/web/render.py", "#results")
    page.driver.back()
    page.shows("src/auth/session.py", "#results")
    assert page.find("#query").get_attribute("value") == "rotate"
    page.driver.forward()
    until(lambda: page.find("#query").get_attribute("value") == "colour", "the question after")
    page.shows("src/web/render.py", "#results")
