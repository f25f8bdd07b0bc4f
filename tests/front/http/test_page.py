"""The page in a browser: its frame, search, the project, the server's health."""

from __future__ import annotations

import os
from itertools import groupby, product

import pytest
from selenium.webdriver.common.keys import Keys

from cortex.front.http.page.views import VIEWS
from tests.conftest import open_project
from tests.front.http.browsing import HOSTILE, HOSTILE_NAME, Page, Town
from tests.front.http.conftest import serving
from tests.wait_until import until

NAMES = [view.name for view in VIEWS]


def test_typing_searches_and_the_newest_question_wins(page):
    page.open("/search")
    page.type("#query", "refresh token")
    page.shows("src/auth/session.py", "#results")
    assert page.all("#results mark")
    assert page.all("#results .meter")
    page.type("#query", "colour")
    page.shows("src/web/render.py", "#results li:first-child h2")
    assert "q=colour" in page.js("return location.search")
    assert len([url for url in page.requests() if "/page/search/find" in url]) < len("refresh tokencolour")


@pytest.mark.parametrize(
    ("way", "query", "language"),
    [
        ("words", "rotate", ""),
        ("expression", r"def rot\w+", ""),
        ("structure", "rotate($TOKEN)", "python"),
        ("meaning", "expired sessions", "python"),
    ],
)
def test_each_query_type_finds_marks_and_gives_reasons(page, way, query, language):
    page.open(f"/search?way={way}&language={language}")
    page.type("#query", query)
    page.shows("src/auth/session.py", "#results")
    assert page.js("return document.querySelector('[name=way]:checked').value") == way
    first = page.find("#results .result")
    assert first.find_elements("css selector", "mark")
    assert first.find_elements("css selector", ".why-row")


def test_keys_alone_lead_to_the_field_along_the_results_and_past_the_frame(page):
    page.open("/project")
    page.press(Keys.TAB)
    assert page.js("return document.activeElement.className") == "skip"
    page.open("/search?way=words&q=rotate")
    page.shows("src/auth/session.py", "#results")
    page.js("document.activeElement.blur()")
    page.press("/")
    assert page.js("return document.activeElement.id") == "query"
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP)
    assert page.js("return document.activeElement === document.querySelector('#results a.open')")
    page.press(Keys.ARROW_UP)
    assert page.js("return document.activeElement.id") == "query"


def test_a_result_leads_to_its_line_in_the_editor_that_is_chosen(page):
    page.open("/search?way=words&q=rotate")
    page.shows("src/auth/session.py", "#results")
    page.js("document.querySelector('#editor').value = 'copy'")
    page.find("a.open[data-file='src/auth/session.py']").click()
    page.shows(f"{page.town.served.config.root}/src/auth/session.py:", "#said")


def test_names_and_contents_that_would_be_markup_stay_text(page):
    page.open("/search?way=words&q=hostile_sentinel")
    page.shows(HOSTILE_NAME, "#results")
    page.shows(HOSTILE, "#results")
    page.type("#query", HOSTILE)
    page.shows(HOSTILE[:20], "#results")
    page.open("/project")
    page.shows(HOSTILE_NAME)
    assert not page.js("return document.querySelectorAll('main img').length")


def test_a_saved_file_shows_up_without_reloading(page, town):
    page.open("/search?way=words&q=newly_written")
    page.shows("Nothing was found", "#results")
    page.js("window.before = true")
    town.save("src/new.py", "def newly_written():\n    return 1\n")
    page.shows("src/new.py", "#results")
    assert page.js("return window.before")


def test_the_view_of_the_project_follows_saved_files(page, town):
    page.open("/project")
    page.shows("python")
    page.shows("src/auth/session.py")
    generation = page.text("#generation")
    town.save("src/later.py", "def written_later():\n    return 2\n" * 30)
    until(lambda: page.text("#generation") != generation, "the next generation is shown")
    page.shows("src/later.py")


def test_the_map_tells_each_file_and_leads_to_a_search_in_it(page):
    page.open("/project")
    page.find("rect[data-path='src/auth/session.py']").click()
    page.shows("src/auth/session.py · 19 lines · 7 references", "#tile")
    page.shows("SessionStore", "#tiles table")
    page.find("#tile a").click()
    assert page.find("#path").get_attribute("value") == "src/auth/session.py"


def test_the_machinery_shows_calls_checks_and_logs(page, town):
    town.server.ask("POST", "/v1/tools/cortex_exact", {"query": "rotate"})
    town.server.ask("POST", "/v1/tools/cortex_exact", {"query": ""})
    page.open("/state")
    page.shows("cortex_exact", "#now")
    page.shows("failed", "#plot-words")
    assert page.find("#times canvas")
    page.shows("python", "#checks")
    page.shows("Nothing was logged by supervisor.", "#log")


def test_ten_thousand_results_and_long_names_fit_every_width(driver, tmp_path):
    name, rest = "a_function_with_a_very_long_name_" * 6, "    pass\n" * 30
    for number in range(120):
        path = (
            tmp_path
            / "many"
            / f"{'folder_with_a_long_name_' * 8}{number // 40}"
            / f"{'file' * 20}{number}.py"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"def {name}{at}():\n    repeated_word = {at}\n{rest}\n" for at in range(26)))
    for number in range(10):
        path = tmp_path / "many" / f"{'a_text_with_a_long_name_' * 8}{number}.md"
        path.write_text("".join(f"# {name}{at}\n\nrepeated_word {at}\n\n" for at in range(900)))
    served = open_project(tmp_path / "many")
    with serving(served) as server:
        page = Page(driver, Town(served, server)).open(server.ask("POST", "/enter", {})[2]["path"])
        page.find("#asked")
        page.open("/search?way=words&q=repeated_word")
        page.shows("20 of 10\N{NARROW NO-BREAK SPACE}080 results", "#results")
        for width in (390, 768, 1280):
            page.size(width)
            assert page.overflows() <= 0, width
        assert page.serious_faults() == []
        page.find("[data-query='repeated_word lang:python']").click()
        page.shows("20 of 1\N{NARROW NO-BREAK SPACE}080 results", "#results")
        page.find("#more").click()
        page.shows("100 of 1", "#results")
        assert len(page.all("#results .result")) == 100
        files = page.js("return [...document.querySelectorAll('a.open')].map((a) => a.dataset.file)")
        for shown in (files[:20], files[20:]):
            assert len([file for file, _ in groupby(shown)]) == len(set(shown)) < len(shown)
        assert len(page.all("#results .result:not(.joined)")) <= len(set(files[:20])) + len(set(files[20:]))
        assert page.js("return document.activeElement === document.querySelectorAll('a.open')[20]")
        assert not page.all("#more")
        path = page.find("#results a.open").get_attribute("data-file")
        for place, element in (
            ("/search?way=words&q=repeated_word", ".found"),
            (f"/files?path={path}", ".code"),
            (f"/graph?of={path}", ".map, .notice, table"),
            ("/search?q=file:file", "#results .refs"),
            ("/project", "#tiles"),
        ):
            page.open(place)
            page.find(element)
            for width in (390, 768, 1280):
                page.size(width)
                assert page.overflows() <= 0, (place, width)
        page.size(390)
        assert page.serious_faults() == []
        assert page.faults() == []


@pytest.mark.parametrize("name", NAMES)
def test_a_view_is_right_at_every_width_light_and_dark_and_accessible(page, name):
    page.open(f"/{name}" + ("?way=words&q=refresh_token" if name == "search" else ""))
    page.find("#fresh[data-state=fine]")
    if name == "search":
        page.shows("src/auth/session.py", "#results")
    grounds = set()
    for dark, width in product((False, True), (360, 768, 1280, 2560)):
        page.size(width)
        page.dark(dark)
        assert page.overflows() <= 0, width
        assert width == 2560 or page.serious_faults() == [], (width, dark)
        grounds.add((dark, page.js("return getComputedStyle(document.body).backgroundColor")))
        if folder := os.environ.get("TEST_PICTURES", ""):  # for eyes
            page.driver.save_screenshot(f"{folder}/{name}-{width}-{'dark' if dark else 'light'}.png")
    assert len(grounds) == 2


@pytest.mark.parametrize("name", NAMES)
def test_keys_alone_reach_every_control_of_a_view_and_show_where_they_are(page, name):
    page.open(f"/{name}" + ("?way=words&q=refresh_token" if name == "search" else ""))
    page.find("#fresh[data-state=fine]")
    if name == "search":
        page.shows("src/auth/session.py", "#results")
    page.js("document.activeElement.blur()")
    controls = "a[href], button, input, select, textarea, summary, [tabindex='0']"
    unreached = f"""return [...document.querySelectorAll("{controls}")].filter((one) => one.checkVisibility()
        && !one.disabled && one.tabIndex === 0 && !one.reached && !(one.type === "radio" && !one.checked))
        .map((one) => one.outerHTML.slice(0, 200))"""
    for _ in range(4 * len(page.js(unreached))):  # a date has several stops
        page.press(Keys.TAB)
        seen = page.js("""const one = document.activeElement; one.reached = true;
            const shown = one.type === "radio" ? one.nextElementSibling : one;
            return one === document.body ? "solid" : getComputedStyle(shown).outlineStyle""")
        assert seen != "none", page.js("return document.activeElement.outerHTML.slice(0, 200)")
        if not page.js(unreached):
            return
    raise AssertionError(page.js(unreached))
