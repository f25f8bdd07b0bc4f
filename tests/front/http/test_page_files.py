"""The view of files: only listed files are read, lines have links, names lead through the graph."""

from __future__ import annotations

import os
import subprocess

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from cortex.front.http.access.tokens import add_named
from cortex.front.http.page import file_view
from cortex.front.http.page.file_view import LINE_CHARS_MAX, LINES_MAX
from cortex.system.errors import Unavailable
from tests.conftest import open_project
from tests.front.http.browsing import HOSTILE, HOSTILE_NAME, Page, Town
from tests.front.http.conftest import CountingLink, serving
from tests.wait_until import until

SESSION = "src/auth/session.py"
HIDDEN = "a_text_that_nobody_may_read"


def quoted(path):
    return path.replace("#", "%23").replace(" ", "%20")


@pytest.fixture
def guarded(tmp_path):
    """A server of a project with files that must not be shown, and its folder."""
    root = tmp_path / "guarded"
    (root / "src").mkdir(parents=True)
    (root / ".gitignore").write_text("ignored.py\n")
    (root / "src" / "plain.py").write_text("def plain():\n    return 1\n")
    (root / "src" / "later.py").write_text("def later():\n    return 1\n")
    for name in (".env", "id_rsa", "ignored.py", "../outside.py"):
        (root / name).write_text(f"{HIDDEN} = 1\n")
    os.symlink(tmp_path / "outside.py", root / "src" / "link.py")
    os.symlink(tmp_path, root / "up")
    served = open_project(root)
    with serving(served) as server:
        server.root = root
        yield server


def commit_all(root, message, *paths):
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    for arguments in (("init", "-q"), ("add", *(paths or ("src",))), ("commit", "-qm", message)):
        subprocess.run(["git", "-C", root, *identity, *arguments], check=True, capture_output=True)


@pytest.mark.parametrize(
    "path",
    [
        ".env", "id_rsa", "ignored.py", "src/link.py", "up/outside.py", "../outside.py", "src/../.env",
        "/etc/passwd", "//etc/passwd", ".git/config", "src/plain.py/..", "src//plain.py", "SRC/plain.py",
        "src/plain.py%00", "%2e%2e/outside.py",
    ],
)  # fmt: skip
def test_only_files_of_the_indexers_list_are_shown(guarded, path):
    status, _, html = guarded.ask("GET", f"/files?path={quoted(path)}")
    assert status == 404
    assert HIDDEN.encode() not in html
    for action in ("outline", "line", "symbol"):
        body = {"path": path, "line": 1, "first": 1, "last": 1, "name": "plain"}
        status, _, answer = guarded.ask("POST", f"/page/files/{action}", body)
        assert status == 404
        assert HIDDEN not in str(answer)


@pytest.mark.parametrize("swapped", ["file", "folder", "pipe"])
def test_a_listed_file_that_became_a_link_is_not_followed(guarded, tmp_path, swapped):
    assert guarded.status("GET", "/files?path=src/later.py") == 200
    place = guarded.root / "src"
    (place / "later.py").unlink()
    if swapped == "file":
        os.symlink(tmp_path / "outside.py", place / "later.py")
    elif swapped == "pipe":
        os.mkfifo(place / "later.py")
    else:
        place.rename(guarded.root / "before")
        (tmp_path / "later.py").write_text(f"{HIDDEN} = 1\n")
        os.symlink(tmp_path, place)
    status, _, html = guarded.ask("GET", "/files?path=src/later.py")
    assert status == 404
    assert HIDDEN.encode() not in html


def test_a_file_and_its_actions_are_never_stored(guarded):
    for headers in (
        guarded.ask("GET", "/files?path=src/plain.py")[1],
        guarded.ask("POST", "/page/files/symbol", {"path": "src/plain.py", "line": 1, "name": "plain"})[1],
    ):
        assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("line", {"first": 0, "last": 1}),
        ("line", {"first": "1", "last": 1}),
        ("line", {"first": 1}),
        ("symbol", {"line": 1, "name": ""}),
        ("symbol", {"line": 1, "name": "a" * 201}),
        ("symbol", {"line": True, "name": "plain"}),
        ("symbol", {"line": 1, "name": ["plain"]}),
    ],
)
def test_an_invalid_action_is_refused(guarded, action, body):
    assert guarded.status("POST", f"/page/files/{action}", {"path": "src/plain.py"} | body) == 400


def test_a_token_of_one_project_reads_no_file_of_another(serve, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    served = {}
    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text(f"{HIDDEN} = 1\n")
        served[name] = serve(tmp_path / name)
    configs = [project.config for project in served.values()]
    with serving(
        served["open"], configs=configs, make=lambda config: CountingLink(served[config.root.name])
    ) as server:
        server.token = add_named("some", "read", 0.0, [tmp_path / "open"])
        assert server.status("GET", "/files?project=open&path=open.py") == 200
        for place in (
            "project=closed&path=closed.py",
            "project=open&path=closed.py",
            "project=open&path=../closed/closed.py",
        ):
            status, _, html = server.ask("GET", f"/files?{place}")
            assert status == 404
            assert HIDDEN.encode() not in html
        assert server.status("POST", "/page/files/outline?project=closed", {"path": "closed.py"}) == 404


def test_long_files_have_pages_and_long_lines_are_cut(guarded):
    body = "".join(f"x{number} = {number}\n" for number in range(1, LINES_MAX + 11))
    (guarded.root / "src" / "plain.py").write_text(f"long = '{'a' * 3 * LINE_CHARS_MAX}'\n{body}")
    html = guarded.ask("GET", "/files?path=src/plain.py")[2].decode()
    assert f'id="L{LINES_MAX}"' in html
    assert f'id="L{LINES_MAX + 1}"' not in html
    assert "a" * (LINE_CHARS_MAX + 1) not in html
    assert f"from={LINES_MAX + 1}" in html
    html = guarded.ask("GET", f"/files?path=src/plain.py&from={LINES_MAX + 1}")[2].decode()
    assert html.count("<tr") == 11
    assert f'id="L{LINES_MAX + 11}"' in html
    assert guarded.status("GET", "/files?path=src/plain.py&from=9999999") == 200


def test_a_folder_of_very_many_files_says_how_many_are_not_listed(monkeypatch):
    monkeypatch.setattr(file_view, "TREE_MAX", 2)
    children = file_view._children([f"a/{number}.py" for number in range(9)] + ["b.py"], "a")
    rows = [*file_view._tree(children, "", 0)]
    assert [(row.path, row.depth, row.hidden) for row in rows] == [
        ("a/", 0, 0),
        ("a/0.py", 1, 0),
        ("a/1.py", 1, 0),
        ("a/", 1, 7),
        ("b.py", 0, 0),
    ]


@pytest.mark.parametrize(
    ("place", "definition", "use"),
    [
        (("src/web/login.py", 8, "refresh_token"), SESSION, "src/web/login.py"),
        (("src/web/login.py", 7, "SessionStore"), SESSION, "src/web/login.py"),
        ((SESSION, 9, "refresh_token"), SESSION, "tests/test_session.py"),
        ((SESSION, 11, "rotate"), SESSION, SESSION),
    ],
)
def test_a_name_on_a_line_leads_to_its_definition_and_uses(server, place, definition, use):
    path, line, name = place
    status, _, html = server.ask("POST", "/page/files/symbol", {"path": path, "line": line, "name": name})
    assert status == 200
    defined, _, uses = html.decode().partition('id="uses"')
    assert definition in defined
    assert use in uses


def test_the_last_change_of_a_line_is_gits(guarded):
    commit_all(guarded.root, "Begin plainly", "src/plain.py")
    lines = {"path": "src/plain.py", "first": 1, "last": 2}
    assert guarded.ask("POST", "/page/files/line", lines)[2]["changed"].endswith("Begin plainly")
    (guarded.root / "src" / "plain.py").write_text("def plain():\n    return 2\n")
    assert guarded.ask("POST", "/page/files/line", lines)[2]["changed"] == "not committed"
    assert guarded.ask("POST", "/page/files/line", lines | {"path": "src/later.py"})[2]["changed"] == ""


def test_a_question_is_asked_again_while_workers_start(guarded, driver):
    page = Page(driver, Town(guarded.link.served, guarded)).open(guarded.ask("POST", "/enter", {})[2]["path"])
    page.find("#asked")
    guarded.link.fault = Unavailable("The text worker is starting.")
    page.open("/search?way=words&q=plain")
    page.shows("The text worker is starting.", "#results")
    guarded.link.fault = None
    page.shows("src/plain.py", "#results")


def test_blame_is_beside_the_lines_also_those_that_moved(guarded, driver):
    commit_all(guarded.root, "Begin plainly")
    (guarded.root / "src" / "plain.py").write_text("import os\n\n\ndef plain():\n    return 1\n")
    page_of = {"path": "src/plain.py", "first": 1}
    first, second = guarded.ask("POST", "/page/files/blame", page_of)[2]["runs"]
    assert first == [1, 3, "not committed"]
    assert (second[:2], second[2].endswith("Begin plainly")) == ([4, 5], True)
    page = Page(driver, Town(guarded.link.served, guarded)).open(guarded.ask("POST", "/enter", {})[2]["path"])
    page.find("#asked")
    page.open("/files?path=src/plain.py")
    page.find("#blame").click()
    page.shows("not committed", "#L1")
    page.shows("Begin plainly", "#L4")
    assert "Begin plainly" not in page.text("#L5")
    for width in (390, 1280):
        page.size(width)
        assert (page.overflows(), page.serious_faults()) == (0, [])
    page.find("#blame").click()
    assert not page.all(".blame")


def test_a_result_has_a_link_to_its_line_and_back_leads_to_the_results(page):
    page.open("/search?way=words&q=rotate")
    page.shows(SESSION, "#results")
    link = page.find(f"a.open[data-file='{SESSION}']")
    assert link.get_attribute("href").endswith(
        f"path=src%2Fauth%2Fsession.py#L{link.get_attribute('data-line')}"
    )
    page.js("document.querySelector('#editor').value = 'page'")
    link.click()
    page.shows("Line ", "#chosen-title")
    assert page.find("tr.chosen").get_attribute("id") == page.js("return location.hash.slice(1)")
    page.driver.back()
    page.shows(SESSION, "#results")


def chosen(page):
    return page.js("return [...document.querySelectorAll('tr.chosen')].map((row) => row.id)")


def test_lines_are_chosen_by_number_and_range_and_by_address(page):
    page.open(f"/files?path={SESSION}#L9-L11")
    until(lambda: chosen(page) == ["L9", "L10", "L11"], "the lines of the address")
    page.shows("Lines 9 to 11", "#chosen-title")
    page.find("#L16 .no a").click()
    assert page.js("return location.hash") == "#L16"
    keys = ActionChains(page.driver).key_down(Keys.SHIFT).click(page.find("#L18 .no a"))
    keys.key_up(Keys.SHIFT).perform()
    assert page.js("return location.hash") == "#L16-L18"
    assert chosen(page) == ["L16", "L17", "L18"]
    page.driver.back()
    until(lambda: chosen(page) == ["L16"], "the line before")
    assert page.find("#L16 .no a").get_attribute("href").endswith("#L16")


def test_a_click_on_a_name_shows_its_definition_and_uses(page):
    page.open(f"/files?path={SESSION}")
    page.shows("SessionStore.expire", "#outline")
    row = page.find("#L11 .line")
    ActionChains(page.driver).move_to_element_with_offset(
        row, -int(row.size["width"] / 2) + 8 * 19, 0
    ).click().perform()
    page.shows("rotate", "#symbol-title")
    page.shows(f"{SESSION}:18", "#definitions")
    page.shows(SESSION, "#uses")
    page.find("#definitions a").click()
    until(lambda: chosen(page) == ["L18"], "the definition")


def test_keys_alone_choose_a_line_and_a_name(page):
    page.open(f"/files?path={SESSION}#L10")
    page.shows("Line 10", "#chosen-title")
    page.js("document.querySelector('#code').focus()")
    page.press(Keys.ARROW_DOWN)
    page.shows("Line 11", "#chosen-title")
    page.press(Keys.ENTER)
    assert page.js("return document.activeElement.textContent") == "rotate"
    page.press(Keys.ENTER)
    page.shows(f"{SESSION}:18", "#definitions")


def test_a_file_with_markup_in_its_name_and_text_stays_text(page):
    page.open("/files")
    page.find(".refs a[href*='path=src']").click()
    page.shows(HOSTILE_NAME.rpartition("/")[2], ".file-tree")
    page.js(
        "[...document.querySelectorAll('.file-tree a')].find((link) => link.innerText.includes('<img')).click()"
    )
    page.shows(HOSTILE, "#code")
    assert not page.all("main img")


@pytest.mark.parametrize("place", ["?path=src/auth/session.py#L9-L11", "?path=src", ""])
def test_the_view_is_right_at_every_width_light_and_dark_and_accessible(page, place):
    page.open(f"/files{place}")
    page.find("#fresh[data-state=fine]")
    if "#" in place:
        page.shows("SessionStore.expire", "#outline")
        page.find("#names button").click()
        page.find("#uses")
    for width, dark in ((390, True), (768, False), (1280, True), (1280, False)):
        page.size(width)
        page.dark(dark)
        assert page.overflows() <= 0, width
        rows = page.js("return [...document.querySelectorAll('#code tr')].map((row) => row.clientHeight)")
        assert all(height < 24 for height in rows), "a number of a line is broken"
        assert page.serious_faults() == [], (width, dark)


def test_an_error_is_a_page_for_a_browser_and_json_for_a_program(server):
    accept = "text/html,application/xhtml+xml"
    places = {"/nosuchpage": 404, "/files?path=nosuch.py": 404, "/v1/search": 405, "/search?project=no": 404}
    for path, status in places.items():
        got, headers, html = server.ask("GET", path, Accept=accept)
        assert got == status
        assert headers["Content-Type"].startswith("text/html")
        assert headers["Content-Security-Policy"]
        assert b"No access yet" not in html
    status, headers, answer = server.ask("GET", "/nosuchpage")
    assert (status, answer["error"]["code"]) == (404, "not_found")
