"""The box of search: filters in the query, their completion, and the history of questions."""

from __future__ import annotations

import re

import pytest
from selenium.webdriver.common.keys import Keys

from cortex.front.http.page.parts.query_filters import (
    COMPLETIONS_MAX,
    FilteredQuery,
    complete,
    filtered_files,
    narrow,
    read_filters,
)
from cortex.front.http.page.search import _spans_in
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
        ("file:login x", FilteredQuery("x", paths=("*login*",), name="login")),
        ("-file:login x", FilteredQuery("x", exclude_paths=("*login*",))),
        ("file:src/*.py x", FilteredQuery("x", paths=("src/*.py",))),
        ("x case:yes word:no", FilteredQuery("x", switches=frozenset(["case"]))),
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
        ("case:maybe x", "yes, no"),
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
        ("fi", ["file:"]),
        ("case:", ["case:yes"]),
        ("file:ses", ["path:src/auth/session.py"]),
        ("-file:a f", ['-path:"docs/a file.md"']),
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


@pytest.mark.parametrize(
    ("query", "files"),
    [
        ("file:login", ["src/web/login.py"]),
        ("file:LOG", ["src/web/login.py"]),
        ("file:s", ["setup.py", "session.py", "tickets.py", "login.py", "a file.md"]),
        ("file:sesspy", ["session.py"]),
        ("path:src/auth -file:tick", ["session.py"]),
        ("lang:markdown", ["a file.md"]),
        ("file:s lang:python path:setup.py -path:src", ["setup.py"]),
        ("file:qqq", []),
    ],
)
def test_filters_alone_list_files_by_name(query, files):
    listed = filtered_files(read_filters(query, LANGUAGES), PATHS)
    assert [path.rpartition("/")[2] for path in listed] == [path.rpartition("/")[2] for path in files]


@pytest.mark.parametrize(
    ("query", "name", "value", "narrowed"),
    [
        ("rotate", "lang", "go", "rotate lang:go"),
        ("lang:python rotate", "lang", "go", "rotate lang:go"),
        ("rotate path:src/ -path:tests", "path", "src/auth/", "rotate -path:tests path:src/auth/"),
        ("file:x rotate", "path", "docs/a file.md", 'rotate path:"docs/a file.md"'),
    ],
)
def test_a_facet_takes_the_place_of_filters_of_its_kind(query, name, value, narrowed):
    assert narrow(query, name, value) == narrowed


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
    assert 'data-file="src/auth/session.py"' in results_of("file:sess")


@pytest.mark.parametrize("way", ["words", "expression"])
def test_case_and_whole_words_are_filters_and_boxes(server, way):
    def count(query, **more):
        status, _, html = server.ask("POST", "/page/search/find", {"query": query, "way": way, **more})
        assert status == 200
        return html.decode().count('class="sheet result')

    assert count("rotate") >= count("rotate word:yes") > 0 == count("rotat", word="yes")
    assert count("ROTATE") > 0 == count("ROTATE case:yes") == count("ROTATE", case="yes")
    assert count("rotate case:yes word:yes lang:python") > 0
    status, _, html = server.ask("POST", "/page/search/find", {"query": "rotate case:yes"})
    assert (status, b"for Words and Expression" in html) == (200, True)


def test_the_definition_of_a_name_comes_first_and_a_switch_marks_no_other_spelling(server):
    def results_of(query):
        status, _, html = server.ask("POST", "/page/search/find", {"query": query, "way": "words"})
        assert status == 200
        return html.decode()

    for name in ("refresh_token", "SessionStore", "sym:SessionStore"):
        first = results_of(name).split('class="sheet result')[1]
        assert ("defines it" in first, "src/auth/session.py" in first) == (True, True), name
    assert "defines it" not in results_of("refresh_token word:yes")
    html = results_of("session word:yes")
    assert "<mark>" in html
    assert set(re.findall("<mark>(.*?)</mark>", re.sub("<span[^>]*>|</span>", "", html))) <= {
        "session",
        "Session",
    }


@pytest.mark.parametrize(
    ("line", "marked", "spans"),
    [
        ("a = b + a", "<em>a</em> = b + a", [(0, 1)]),
        ("xx a = b", "…<em>a</em> = <em>b</em>", [(3, 4), (7, 8)]),
        ("a <em>b</em>", "<em>a</em> <em>b</em>", []),
    ],
)
def test_marks_are_at_the_places_that_the_engine_marked(line, marked, spans):
    assert _spans_in(line, marked) == spans


def test_counts_by_folder_lead_to_its_results_and_back(page):
    page.open("/search?way=words&q=refresh_token")
    page.shows("src/", "#results .facets[aria-label='Results by folders']")
    page.find("#results [data-query='refresh_token path:src/']").click()
    until(lambda: "docs/auth.md" not in page.text("#results"), "only the folder's results")
    assert page.find("#query").get_attribute("value") == "refresh_token path:src/"
    page.driver.back()
    page.shows("docs/auth.md", "#results")


def test_a_word_that_is_nowhere_leads_to_the_nearest(page):
    page.open("/search?way=words&q=SesionStore")
    page.shows("Search for SessionStore", "#results")
    page.find("#results [data-query]").click()
    page.shows("src/auth/session.py", "#results")


def test_boxes_for_case_and_whole_words_stay_in_the_address(page):
    page.open("/search?way=words&q=refresh")
    page.shows("src/auth/session.py", "#results")
    page.find("#word").click()
    until(lambda: "word=yes" in page.js("return location.search"), "the address")
    page.open(page.js("return location.pathname + location.search"))
    assert page.find("#word").is_selected()
    page.find("input[value=meaning]").click()
    assert not page.find("#word").is_enabled()
    page.shows("src/auth/session.py", "#results")
    assert page.serious_faults() == []


def test_a_file_is_opened_by_a_part_of_its_name(page):
    page.open("/search")
    page.type("#query", "file:sess")
    page.shows("path:src/auth/session.py", "#completions")
    page.press(Keys.ESCAPE)
    page.shows("to the filters", "#results")
    page.press(Keys.ARROW_DOWN, Keys.ENTER)
    page.shows("def rotate", ".files .code")


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
