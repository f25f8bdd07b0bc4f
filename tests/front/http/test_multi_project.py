"""Several projects of one server: asked together, and unknown to tokens that are for others."""

import fnmatch
import re
import shutil

import orjson
import pytest

from cortex.front.http.access import tokens
from cortex.front.http.access.tokens import Bearer, add_named
from cortex.settings.folders.home import user_config
from cortex.settings.folders.identity import birth_of
from cortex.system.errors import Unavailable
from tests.front.http.conftest import CountingLink, serving

NAMES = ("api-orders", "api-users", "hidden")


@pytest.fixture
def city(serve, tmp_path):
    """A server of three projects, and its links by name."""
    served = {}
    for name in NAMES:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "rotate.py").write_text(f"def rotate_{name.replace('-', '_')}(key):\n    return key\n")
        (folder / "other.py").write_text("def wait():\n    return None\n")
        served[name] = serve(folder)
    links = {}

    def make(config):
        return links.setdefault(config.root.name, CountingLink(served[config.root.name]))

    first = served[NAMES[0]]
    with serving(first, configs=[served[name].config for name in NAMES], make=make) as server:
        server.links, server.roots = links, {name: served[name].config.root for name in NAMES}
        yield server


def search(server, *projects, **more):
    status, _, answer = server.ask(
        "POST", "/v1/tools/cortex_search", {"query": "rotate a key", "projects": projects, **more}
    )
    return status, answer


def projects_of(answer):
    return {result["project"] for result in answer["results"]}


def restrict(server, *patterns):
    roots = [
        root
        for pattern in patterns
        for name, root in server.roots.items()
        if fnmatch.fnmatchcase(name, pattern)
    ]
    server.token = add_named("some", "read", 0.0, roots or [user_config().parent])


def test_one_query_goes_to_all_named_projects_and_each_hit_names_its_project(city):
    status, answer = search(city, "*")
    assert status == 200
    assert projects_of(answer) == set(NAMES)
    assert set(answer["index"]["generations"]) == set(NAMES)
    assert projects_of(search(city, "api-*")[1]) == {"api-orders", "api-users"}
    assert projects_of(search(city, "hidden", "api-users", detail="location")[1]) == {"hidden", "api-users"}
    hits = city.ask("POST", "/v1/search", {"query": "rotate a key", "projects": ["api-*"]})[2]["hits"]
    assert {hit["project"] for hit in hits} == {"api-orders", "api-users"}
    lines = city.ask("POST", "/v1/tools/cortex_exact", {"query": "rotate*", "projects": ["*"]})[2]
    assert projects_of(lines) == set(NAMES)
    assert lines["total_found"] >= 3


def test_a_project_that_is_away_is_named_and_the_others_answer(city):
    search(city, "*")
    city.links["hidden"].fault = Unavailable("The workers are still being started.")
    status, answer = search(city, "*")
    assert status == 200
    assert projects_of(answer) == {"api-orders", "api-users"}
    assert answer["index"]["degraded"] == ["hidden"]
    assert "hidden: The workers are still being started." in answer["index"]["message"]


def test_a_filter_that_leaves_nothing_is_named_over_all_projects(city):
    answer = search(city, "*", paths=["nowhere/**"])[1]
    assert answer["results"] == []
    assert answer["suggestion"].startswith(
        'Nothing matches with paths=["nowhere/**"]; without it there would be'
    )


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"projects": ["api-*"], "project": "hidden"}, "Pass `project` for one project or `projects`"),
        ({"projects": ["api-*"], "scope": "all"}, "`projects` searches code alone"),
        ({"projects": ["api-*"], "kind": "decision"}, "`projects` searches code alone"),
        ({"projects": ["nope"]}, "There is no project 'nope'; there are: api-orders, api-users, hidden."),
        ({"projects": ["hiden"]}, r"There is no project 'hiden' \(did you mean 'hidden'\?\)"),
        ({"projects": 7}, "There is no project '7'"),
    ],
)
def test_an_invalid_query_to_several_projects_is_one_sentence(city, arguments, why):
    status, _, answer = city.ask("POST", "/v1/tools/cortex_search", {"query": "rotate"} | arguments)
    assert status == 400
    assert re.search(why, answer["error"]["message"])


def test_a_token_for_some_projects_reaches_no_others(city):
    restrict(city, "api-*")
    assert projects_of(search(city, "*")[1]) == {"api-orders", "api-users"}
    assert projects_of(search(city, "api-users", "*-orders")[1]) == {"api-orders", "api-users"}
    restrict(city, "api-users", "hidden")
    assert projects_of(search(city, "*")[1]) == {"api-users", "hidden"}
    restrict(city, "hidden")
    assert projects_of(search(city, "*")[1]) == {"hidden"}


def test_a_hidden_project_looks_like_a_missing_project(city):
    restrict(city, "api-*")
    for name in ("hidden", "absent"):
        sentence = f"There is no project {name!r}"
        assert search(city, name)[0] == 400
        for status, _, answer in (
            city.ask("POST", "/v1/search", {"query": "x", "project": name}),
            city.ask("GET", f"/v1/indexStatus?project={name}"),
            city.ask("GET", f"/v1/tools?project={name}"),
            city.ask("GET", f"/v1/events?project={name}"),
            city.ask("GET", f"/openapi.json?project={name}"),
        ):
            assert status == 404
            assert answer["error"]["message"].startswith(sentence)
            assert answer["error"]["message"].endswith("there are: api-orders, api-users.")


def test_nothing_that_a_token_gets_holds_the_name_of_another_project(city):
    search(city, "*")  # all are open
    restrict(city, "api-*")
    replies = [
        city.ask("GET", "/v1/tools"),
        city.ask("GET", "/v1/indexStatus"),
        city.ask("GET", "/openapi.json"),
        city.ask("GET", "/health"),
        city.ask("POST", "/v1/tools/cortex_search", {"query": "rotate", "projects": ["*"]}),
        city.ask("POST", "/v1/tools/cortex_search", {"query": "rotate", "projects": ["hid*"]}),
        city.ask("POST", "/v1/tools/cortex_search", {"query": "rotate", "projects": ["hiddn"]}),
        city.ask("POST", "/v1/tools/cortex_exact", {"query": "rotate", "project": "hiddn"}),
        city.ask("GET", "/v1/indexStatus?project=hiddn"),
        city.ask("GET", "/metrics"),
    ]
    for _, _, answer in replies:
        text = answer if isinstance(answer, (bytes, str)) else orjson.dumps(answer).decode()
        assert "hidden" not in str(text)
    assert "api-users" in str(replies[-1][2])


def test_a_token_for_some_projects_sees_no_calls_of_others(city):
    owner = city.token
    for name in ("hidden", "api-users"):
        query = {"query": "rotate", "project": name}
        assert city.status("POST", "/v1/tools/cortex_exact", query) == 200
    assert city.status("POST", "/v1/tools/cortex_search", {"query": "rotate", "project": "hidden"}) == 200

    def figures():
        text = city.ask("GET", "/metrics")[2].decode()
        body = {"project": "api-users"}
        columns = city.ask("POST", "/page/state/hour?project=api-users", body)[2]
        shown = city.ask("GET", "/state?project=api-users", Accept="text/html")[2].decode()
        return text, sum(columns["calls"]), "<h2>Memory</h2>" in shown

    restrict(city, "api-users")
    text, calls, has_memory = figures()
    assert not has_memory
    assert "cortex_index_generation" in text
    assert "cortex_call" not in text
    assert "cortex_requests" not in text
    assert calls == 1
    city.token = owner
    text, calls, has_memory = figures()
    assert has_memory
    assert 'cortex_calls_total{code="ok",tool="cortex_search"}' in text
    assert calls >= 3


def test_a_token_for_no_project_of_the_server_sees_no_name(city):
    restrict(city, "elsewhere-*")
    for status, _, answer in (
        city.ask("POST", "/v1/search", {"query": "x"}),
        city.ask("POST", "/v1/search", {"query": "x", "project": "hidden"}),
    ):
        assert status == 403
        assert not any(name in answer["error"]["message"] for name in NAMES)


def write_old_token(*projects, name="old"):
    """Store a token as earlier versions did, for names; return it."""
    token = add_named(name, "read", 0.0)
    path = user_config().parent / "tokens.json"
    stored = orjson.loads(path.read_bytes())
    stored[name] = {"digest": stored[name]["digest"], "right": "read", "projects": projects}
    path.write_bytes(orjson.dumps(stored))
    return token


def test_a_token_opens_a_folder_and_no_other_of_its_name(city, tmp_path):
    """Another company's project of the same name may be served later."""
    theirs = tmp_path / "elsewhere" / "api-users"
    theirs.mkdir(parents=True)
    city.token = add_named("some", "read", 0.0, [theirs])
    for name in ("", "api-users"):
        status, _, answer = city.ask("POST", "/v1/search", {"query": "rotate", "project": name})
        assert status == 403
        assert "for other projects than this server's" in answer["error"]["message"]
    assert "hidden" not in str(city.ask("GET", "/metrics")[2])


@pytest.mark.parametrize("then", ["copied", "replaced", "gone"])
def test_a_token_of_a_folder_that_was_moved_opens_nothing_and_says_so(city, tmp_path, then):
    root = city.roots["api-users"]
    restrict(city, "api-users")
    assert city.status("POST", "/v1/search", {"query": "rotate"}) == 200
    root.rename(tmp_path / "moved")
    if then != "gone":
        shutil.copytree(tmp_path / "moved", root)
    if then == "replaced":
        (root / "rotate.py").write_text("def othercompany_secret(): return 1\n")
    status, _, answer = city.ask("POST", "/v1/search", {"query": "rotate"})
    assert status == 403
    assert "was moved or replaced" in answer["error"]["message"]
    assert "cortex token some --for FOLDER" in answer["error"]["message"]
    assert str(tmp_path) not in answer["error"]["message"]


def test_the_birth_of_a_project_is_that_of_its_git_folder(tmp_path):
    root = tmp_path / "shop"
    root.mkdir()
    plain = birth_of(root)
    (root / ".git").mkdir()
    assert birth_of(root) in (plain, birth_of(root / ".git"))
    (root / "a.py").write_text("x")
    before = birth_of(root)
    (root / ".git" / "index").write_text("x")
    assert birth_of(root) == before != ""
    assert birth_of(tmp_path / "nowhere") == ""


@pytest.mark.parametrize(
    ("projects", "knows", "not_"),
    [((), "any", None), (("a",), "a", "ab"), (("a*",), "ab", "ba"), (("a[1]",), "a[1]", "a2")],
)
def test_a_token_of_an_earlier_version_opens_its_names_and_globs(projects, knows, not_, tmp_path):
    bearer = Bearer("t", "read", projects)
    assert bearer.may_access(knows, tmp_path)
    assert not_ is None or not bearer.may_access(not_, tmp_path)


def test_tokens_for_names_end_after_this_release_and_say_so(city, monkeypatch):
    city.token = write_old_token("api-*")
    assert projects_of(search(city, "*")[1]) == {"api-orders", "api-users"}
    monkeypatch.setattr(tokens, "__version__", "0.2.0")
    status, _, answer = city.ask("POST", "/v1/search", {"query": "rotate"})
    assert status == 403
    assert "cortex token old --for FOLDER" in answer["error"]["message"]


def test_an_earlier_version_opens_nothing_with_a_token_for_a_folder(tmp_path):
    """It knows no births: the folder is no name of a project, and limits the token."""
    add_named("some", "read", 0.0, [tmp_path])
    assert tokens.read_named()["some"].projects == (str(tmp_path),)
    assert not Bearer("some", "read", (str(tmp_path),)).may_access(tmp_path.name, tmp_path)
