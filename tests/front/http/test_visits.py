"""Entry of a browser: a link that works once, a cookie with the rights of its token."""

from __future__ import annotations

import re

import pytest

from cortex.front.http.access.tokens import add_named, own_token, remove_named
from cortex.front.http.access.visits import CODE_S, CODES_MAX, VISIT_S, Visits

KIND = "text/html,application/xhtml+xml"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The user's configuration, a new one for each test."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "cortex"


def come_in(server):
    """Return the Cookie header of a new visit."""
    path = server.ask("POST", "/enter", {})[2]["path"]
    status, headers, _ = server.ask("GET", path, Authorization=None)
    assert status == 200
    return headers["Set-Cookie"].partition(";")[0]


def visited(server, method, path, body=None, **headers):
    return server.ask(method, path, body, Authorization=None, **headers)


def test_a_link_opens_once_and_gives_a_cookie_that_no_script_and_no_other_site_has(server):
    path = server.ask("POST", "/enter", {})[2]["path"]
    status, headers, html = server.ask("GET", path, Authorization=None)
    assert status == 200
    assert re.search(r"HttpOnly;.*SameSite=strict", headers["Set-Cookie"])
    assert headers["Referrer-Policy"] == "no-referrer"
    assert b"url=/" in html
    assert server.status("GET", path, Authorization=None) == 401


def test_a_visit_reads_and_writes_as_its_page_does(server):
    cookie = come_in(server)
    assert visited(server, "GET", "/search", Cookie=cookie, Sec_Fetch_Site="none")[0] == 200
    body = {"query": "rotate", "way": "words"}
    page_headers = {"Cookie": cookie, "Sec_Fetch_Site": "same-origin", "Origin": server.url}
    status, headers, html = visited(server, "POST", "/page/search/find", body, **page_headers)
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"src/auth/session.py" in html
    assert visited(server, "POST", "/v1/tools/cortex_exact", {"query": "rotate"}, **page_headers)[0] == 200


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"Origin": "http://127.0.0.1:9"},
        {"Origin": "URL", "Sec_Fetch_Site": "same-site"},
        {"Origin": "URL", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "null", "Sec_Fetch_Site": "same-origin"},
    ],
)
def test_requests_of_another_page_with_the_cookie_are_refused(server, more):
    headers = {"Cookie": come_in(server)} | {
        name: value.replace("URL", server.url) for name, value in more.items()
    }
    assert visited(server, "POST", "/v1/tools/cortex_exact", {"query": "x"}, **headers)[0] == 403


def test_a_form_of_another_page_is_refused_for_its_kind(server):
    page_headers = {"Cookie": come_in(server), "Origin": server.url, "Content_Type": "text/plain"}
    assert visited(server, "POST", "/v1/tools/cortex_exact", {"query": "x"}, **page_headers)[0] == 415


def test_a_visit_has_the_rights_and_lifetime_of_its_token(own_server):
    own_server.token = add_named("reader", "read", 0.0)
    cookie = come_in(own_server)
    page = {"Cookie": cookie, "Origin": own_server.url}
    assert visited(own_server, "GET", "/search", Cookie=cookie)[0] == 200
    assert visited(own_server, "POST", "/v1/tools/cortex_store", {"title": "A note"}, **page)[0] == 403
    remove_named("reader")
    assert visited(own_server, "GET", "/search", Cookie=cookie)[0] == 401


def test_a_visitor_makes_no_link_for_others(server):
    page = {"Cookie": come_in(server), "Origin": server.url}
    assert visited(server, "POST", "/enter", {}, **page)[0] == 403


def test_a_browser_without_a_visit_sees_how_to_enter(server):
    for path in ("/", "/search", "/v1/tools"):
        status, headers, html = visited(server, "GET", path, Accept=KIND)
        assert status == 401
        assert headers["Content-Type"].startswith("text/html")
        assert b"cortex open" in html
    assert visited(server, "GET", "/search?project=nowhere", Accept=KIND, Cookie=come_in(server))[0] == 404


def test_every_page_forbids_foreign_content_and_frames(server):
    for path in ("/search", "/project", "/state", "/static/page.css"):
        policy = server.ask("GET", path)[1]["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize("name", ["../pages.py", "..%2fpages.py", "vendor/../../frame.py", "none.css"])
def test_static_routes_serve_only_static_files(server, name):
    assert server.status("GET", f"/static/{name}") == 404


@pytest.mark.parametrize("cookie", ["cortex-1=x", "cortex-PORT=", "cortex-PORT=wrong", "=;;=", "cortex-PORT"])
def test_a_cookie_of_no_visit_opens_nothing(server, cookie):
    cookie = cookie.replace("PORT", str(server.port))
    assert visited(server, "GET", "/search", Cookie=cookie)[0] == 401


def test_codes_and_visits_end_and_are_bounded():
    visits = Visits()
    codes = [visits.invite("digest", 0.0) for _ in range(CODES_MAX + 1)]
    assert visits.enter(codes[0], 1.0) == ""
    assert visits.enter(codes[1], CODE_S) == ""
    cookie = visits.enter(codes[2], CODE_S - 1.0)
    assert visits.digest(cookie, VISIT_S) == "digest"
    assert visits.digest(cookie, VISIT_S + CODE_S) == ""
    assert visits.digest("", 0.0) == ""


def test_with_the_users_token_deleted_an_unknown_visit_opens_nothing(own_server, folder):
    """A deleted token has an empty digest, as an unknown visit has."""
    assert own_server.status("GET", "/v1/tools") == 200  # the server listens before it reads the token
    own_token(make=True)
    assert own_server.status("GET", "/v1/tools") == 401  # the server had another token
    (folder / "token").unlink()
    assert visited(own_server, "GET", "/v1/tools", Cookie=f"cortex-{own_server.port}=x")[0] == 401
