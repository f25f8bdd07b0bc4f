"""The graph in a browser: drawn and listed, growing by click and by keyboard."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from cortex.front.http.page.graph import _for_people
from tests.conftest import open_project
from tests.front.http.browsing import HOSTILE, HOSTILE_NAME, Page, Town
from tests.front.http.conftest import serving
from tests.wait_until import until

REFRESH = "src/auth/session:SessionStore.refresh_token"
LOGIN = "src/web/login:show_login"
#: script for the edges of the picture: source, target, class, and line style
DRAWN = """return document.getElementById("drawing")._cyreg.cy.edges().map(
  (edge) => [edge.source().id(), edge.target().id(), edge.classes()[0], edge.style("line-style")])"""
PLACE = """const cy = document.getElementById("drawing")._cyreg.cy;
  const box = document.getElementById("drawing").getBoundingClientRect();
  const at = cy.getElementById(arguments[0]).renderedPosition();
  return [Math.round(at.x - box.width / 2), Math.round(at.y - box.height / 2)]"""


def drawn(page):
    page.find("#drawing[data-state=drawn]")
    return int(page.js("return document.getElementById('drawing').dataset.nodes"))


def test_a_symbol_is_drawn_and_listed_and_how_sure_a_call_is_is_its_line(page):
    page.open("/graph?of=refresh_token")
    assert drawn(page) == 4
    assert sorted(map(tuple, page.js(DRAWN))) == [
        (REFRESH, "src/auth/session:rotate", "exact", "solid"),
        (LOGIN, REFRESH, "receiver", "dashed"),
        ("tests/test_session:test_a_token_is_refreshed", REFRESH, "receiver", "dashed"),
    ]
    callers = page.find("section[aria-label=Callers]")
    assert "show_login" in callers.text
    assert "src/web/login.py:8" in callers.text
    assert len(callers.find_elements("css selector", ".stroke.receiver")) == 2
    assert "rotate" in page.find("section[aria-label=Callees]").text


def test_the_picture_grows_by_click(page):
    page.open("/graph?of=rotate")
    before = drawn(page)
    drawing = page.find("#drawing")
    ActionChains(page.driver).move_to_element_with_offset(drawing, *page.js(PLACE, REFRESH)).click().perform()
    until(lambda: drawn(page) > before, "the picture grew")
    page.shows("show_login", "#grown")
    assert "2 more symbols" in page.text("#drawn-said")


def test_keyboard_alone_asks_and_grows(page):
    page.open("/graph")
    page.press("rotate", Keys.ENTER)
    before = drawn(page)
    for _ in range(40):
        page.press(Keys.TAB)
        if page.js("return document.activeElement.dataset.grow") == REFRESH:
            break
    page.press(Keys.ENTER)
    until(lambda: drawn(page) > before, "the picture grew")
    page.shows("show_login", "#grown")


def test_an_impact_is_a_tree(page):
    page.open("/graph?of=rotate&way=impact")
    assert drawn(page) == 4
    [below] = page.all(".tree > li > details > .tree")
    assert "show_login" in below.text
    assert "refresh_token" in page.text(".tree > li > .leaf")
    page.find(".tree > li > details > summary").click()
    assert not below.is_displayed()


def test_a_path_is_shown_step_by_step(page):
    page.open("/graph?of=show_login&to=rotate&way=path")
    assert drawn(page) == 3
    names = [link.text for link in page.all(".way > li > a.mono:first-of-type")]
    assert [name for name in names if ".py" not in name] == [
        "show_login",
        "SessionStore.refresh_token",
        "rotate",
    ]
    page.open("/graph?of=rotate&to=show_login&way=path")
    page.shows("No chain of calls")


@pytest.mark.parametrize(("query", "right"), [("of=show_login&to=rotat", "to"), ("of=rotat", "of")])
def test_a_name_that_may_mean_others_is_asked_about(page, query, right):
    page.open(f"/graph?way={'path' if 'to=' in query else 'around'}&{query}")
    page.shows("Which rotat?")
    page.find(".refs a").click()
    drawn(page)
    assert page.find(f"#{right}").get_attribute("value") == "src/auth/session:rotate"


@pytest.mark.parametrize("symbol", [HOSTILE, "nothing_of_that_name"])
def test_a_missing_symbol_is_reported_as_it_was_typed(page, symbol):
    page.open("/graph")
    page.type("#of", symbol)
    page.press(Keys.ENTER)
    page.shows("There is no")
    page.shows(symbol[:20])
    assert page.find("#of").get_attribute("value") == symbol


def test_a_hostile_file_is_a_name_in_the_graph(page):
    page.open("/graph?of=hostile_sentinel")
    drawn(page)
    page.shows(HOSTILE_NAME)
    assert not page.all("main img")


def test_a_picture_of_another_width_is_cut_until_it_is_drawn_again(page):
    page.open("/graph?of=rotate")
    drawn(page)
    page.js("document.querySelector('#drawing > div').style.width = '5000px'")
    assert page.overflows() <= 0


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("max_per_level left out 115 of 266; raise it.", ""),
        ("Shown: 1 to 200 of 404; offset 200 shows the next.", ""),
        (
            "The graph has no callers of a:b. Calls through values are not in it; cortex_exact finds every mention.",
            "The graph has no callers of a:b. Calls through values are not in it.",
        ),
        ("'run' may be any of 2; ask again with one of: a:run, b:run.", "'run' may be any of 2."),
        ("No chain of calls leads from a to b.", "No chain of calls leads from a to b."),
    ],
)
def test_sentences_for_agents_are_not_shown_to_people(sentence, shown):
    assert _for_people(sentence) == shown


@pytest.fixture
def wide(driver, tmp_path):
    """The page of a project where 90 functions in 30 files of 15 folders call `base` and `hub`.

    `hub` calls 30 functions.
    """
    root = tmp_path / "wide"
    (root / "core").mkdir(parents=True)
    (root / "core" / "base.py").write_text("def base():\n    return 1\n")
    for number in range(30):
        folder = root / f"folder_{number // 2}_{'with_a_long_name_' * 3}"
        folder.mkdir(exist_ok=True)
        users = "".join(f"def user_{number}_{at}():\n    return base(hub())\n\n\n" for at in range(3))
        imports = "from core.base import base\nfrom core.hub import hub\n\n\n"
        (folder / f"users_{number}.py").write_text(f"{imports}{users}")
        parts = root / f"a_folder_of_parts_{number}_{'of_a_long_name_' * 2}"
        parts.mkdir()
        (parts / f"part_{number}.py").write_text(f"def part_{number}():\n    return {number}\n")
    imports = "".join(
        f"from {folder.name}.part_{folder.name.split('_')[4]} import part_{folder.name.split('_')[4]}\n"
        for folder in root.glob("a_folder_of_parts_*")
    )
    calls = ", ".join(f"part_{number}()" for number in range(30))
    (root / "core" / "hub.py").write_text(f"{imports}\n\ndef hub():\n    return [{calls}]\n")
    served = open_project(root)
    with serving(served) as server:
        window = Page(driver, Town(served, server))
        window.open(server.ask("POST", "/enter", {})[2]["path"])
        window.find("#asked")
        window.size(1280)
        yield window
        driver.get("about:blank")


@pytest.mark.parametrize("way", ["impact", "around"])
def test_a_large_picture_begins_with_few_groups_that_open(wide, way):
    wide.open(f"/graph?of=base&way={way}")
    assert drawn(wide) <= 40
    names = wide.js(
        "return document.getElementById('drawing')._cyreg.cy.nodes('.group').map((node) => node.data('key'))"
    )
    assert len(names) >= 10
    before = drawn(wide)
    wide.js(
        "document.getElementById('drawing')._cyreg.cy.getElementById('group:' + arguments[0]).emit('tap')",
        names[0],
    )
    assert drawn(wide) > before
    assert "entries" in wide.text("#drawn-said")
    zoom = wide.js("return document.getElementById('drawing')._cyreg.cy.zoom()")
    assert zoom >= 0.69
    for width, dark in ((390, True), (768, False)):
        wide.size(width)
        wide.dark(dark)
        assert wide.overflows() <= 0
        assert wide.serious_faults() == []


#: script for the parts of a picture that are outside of its window, in pixels
CUT = """const cy = document.getElementById("drawing")._cyreg.cy;
  const { x1, x2, y1, y2 } = cy.elements().renderedBoundingBox();
  return [-x1, x2 - cy.width(), -y1, y2 - cy.height()].map((cut) => Math.max(0, Math.round(cut)))"""


@pytest.mark.parametrize("of", ["base", "hub"])
@pytest.mark.parametrize("width", [1024, 1280])
def test_nothing_of_a_large_picture_is_cut_at_first(wide, of, width):
    wide.size(width)
    wide.open(f"/graph?of={of}")
    assert drawn(wide) >= 4
    assert wide.js(CUT) == [0, 0, 0, 0]


@pytest.mark.parametrize("way", ["around", "impact", "path"])
def test_every_query_type_is_right_at_every_width_light_and_dark_and_accessible(page, way):
    page.open(f"/graph?of=show_login&to=rotate&way={way}" if way == "path" else f"/graph?of=rotate&way={way}")
    drawn(page)
    page.size(2560)
    assert page.overflows() <= 0
    assert way != "impact" or page.serious_faults() == []  # of the light colours it has all
    page.size(360)
    page.dark()
    assert page.overflows() <= 0
    assert page.serious_faults() == []


def test_the_entry_points_lead_to_their_handlers(page, town):
    page.open("/entries")
    page.shows("The project has no routes")
    town.save(
        "src/shop.py",
        "from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.post('/orders')\ndef create_order():\n    return ''\n\n\n"
        "@app.get('/health')\ndef health():\n    return ''\n",
    )
    page.open("/entries")
    page.shows("/health")
    page.type("#path", "orders")
    page.press(Keys.ENTER)
    until(lambda: "/health" not in page.text("main"), "the routes of the path alone are shown")
    assert page.text("tbody tr").split("\n")[0].split() == [
        "POST",
        "/orders",
        "create_order",
        "src/shop.py:6",
    ]
    page.find("tbody a[href*='create_order']").click()
    page.shows("/orders", "section[aria-label=Callers]")
