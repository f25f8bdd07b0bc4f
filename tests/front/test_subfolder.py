"""What is asked and answered of a folder that is served from the index around it, in its paths."""

import asyncio

import pytest

from cortex.front.argument_forms import located
from cortex.front.subfolder import Part

ROOT = "/home/ann/mono"
FILES = (
    "README.md",
    "setup.py",
    "lib/crypto.py",
    "packages/api/main.py",
    "packages/api/src/auth/session.py",
    "packages/api/app/[id]/(group)/page.tsx",
    "packages/web/app.py",
    "packages/web/main.py",
)


class Listed:
    """The files of an index."""

    def listed(self):
        return frozenset(FILES)

    def stems(self):
        return frozenset(path.rpartition(".")[0] for path in FILES)

    def is_there(self, path):
        return any(one == path or one.startswith(f"{path}/") for one in FILES)


PART = Part("packages/api", ROOT, Listed())


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("main.py", "packages/api/main.py"),
        ("./main.py", "packages/api/main.py"),
        ("src/auth/session.py:12", "packages/api/src/auth/session.py:12"),
        ("src/auth/session.py#L12", "packages/api/src/auth/session.py#L12"),
        ("src/auth/session:Session.refresh", "packages/api/src/auth/session:Session.refresh"),
        ("main:run", "packages/api/main:run"),
        ("src/auth", "packages/api/src/auth"),
        (".", "packages/api"),
        ("../web/app.py", "packages/web/app.py"),
        ("../../lib/crypto:seal", "lib/crypto:seal"),
        ("../..", ""),
        ("app/[id]/(group)/page.tsx", "packages/api/app/[id]/(group)/page.tsx"),
        # names, and what is elsewhere or nowhere, the workers look for
        ("Session.refresh", "Session.refresh"),
        ("auth", "auth"),
        ("main", "main"),
        ("src/gone.py", "src/gone.py"),
        ("../../../etc/passwd", "../../../etc/passwd"),
        (f"{ROOT}/lib/crypto.py", f"{ROOT}/lib/crypto.py"),
        ("how does main.py run", "how does main.py run"),
        ("a\0b", "a\0b"),
        ("", ""),
    ],
)
def test_a_place_is_read_from_the_folder_and_a_name_stays(written, meant):
    assert PART.given("cortex_graph", {"target": written})["target"] == meant


def test_a_path_of_a_map_may_be_a_folder_and_nothing_is_all_of_this_one():
    assert PART.given("cortex_outline", {"path": "src"}) == {"path": "packages/api/src"}
    assert PART.given("cortex_outline", {"path": ""}) == {"path": "packages/api"}


def test_a_question_is_a_place_only_where_it_may_be_one():
    assert PART.given("cortex_explore", {"query": "main.py:3"}) == {"query": "packages/api/main.py:3"}
    assert PART.given("cortex_exact", {"query": "main.py"}) == {"query": "main.py"}


def test_a_tag_is_a_path_only_where_it_is_a_files():
    told = PART.given("cortex_search", {"tags": ("src", "go", "main.py")})
    assert told == {"tags": ("src", "go", "packages/api/main.py")}


def test_of_what_is_asked_of_notes_only_the_files_that_they_are_about_are_read_from_the_folder():
    """A tag is a person's own word, and where notes are written to is no file of the project."""
    written = {"tags": ("main.py",), "file": "../notes.jsonl", "to": "./main.py"}
    about = dict.fromkeys(("files", "anchors", "files_read", "files_modified"), ("main.py",))
    told = PART.given("cortex_store", written | about, of_notes=True)
    assert told == written | dict.fromkeys(about, ("packages/api/main.py",))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("src/**", ("/packages/api/src/**",)),
        ("/src/**", ("/packages/api/src/**",)),
        ("*.py", ("/packages/api/**/*.py",)),
        ("src", ("/packages/api/**/src",)),
        ("src/", ("/packages/api/**/src/",)),
        ("**", ("/packages/api/**",)),
        (".", ("/packages/api/**",)),
        ("*.{ts,tsx}", ("/packages/api/**/*.ts", "/packages/api/**/*.tsx")),
        ("!src/**", ("!/packages/api/src/**",)),
        ("../web/**", ("/packages/web/**",)),
        ("../**", ("/packages/**",)),
        ("..", ("/packages/**",)),
        ("../.github/**", ("/packages/.github/**",)),
        ("../../**", ("/**/*",)),
        ("../../*.md", ("/**/*.md",)),
        ("../../../x", ("../../../x",)),
        ("/*.py", ("/packages/api/*.py",)),
        ("*", ("/packages/api/**",)),
        (f"{ROOT}/lib/**", (f"{ROOT}/lib/**",)),
        ("", ()),
    ],
)
def test_a_glob_is_read_from_the_folder(written, meant):
    told = PART.given("cortex_search", {"paths": (written,)})
    assert told == {"paths": meant}


def test_a_folder_whose_name_looks_like_a_glob_is_none():
    part = Part("app/[id]", ROOT, Listed())
    told = part.given("cortex_search", {"paths": ("*.tsx", "../**")})
    assert told == {"paths": (r"/app/\[id\]/**/*.tsx", "/app/**")}


def test_a_glob_in_which_the_roots_path_stands_later_on_is_read_from_the_folder():
    """The root is a short one where the project is all that a container holds."""
    part = Part("server", "/app", Listed())
    told = part.given("cortex_search", {"paths": ("src/app/**", "/app/web/**", "/apps/**")})
    assert told == {"paths": ("/server/src/app/**", "/app/web/**", "/server/apps/**")}


def test_globs_that_were_one_text_are_read_as_such():
    told = PART.given("cortex_graph", {"scope": "src/**, ../web/**"})
    assert located(told, ROOT)["scope"] == "{/packages/api/src/**,/packages/web/**}"


ANSWER = {
    "results": [
        {
            "chunk": {
                "id": "code-packages/api/main.py#run",
                "text": "import packages/api/main.py",
                "title": "packages/api/main.py › run",
                "metadata": {"file_path": "packages/api/main.py", "start_line": 3},
            }
        },
        {"at": "packages/web/app.py:7", "via": "lib/crypto:seal", "name": "login", "kind": "function"},
        {"file": "setup.py", "at": "packages/api/app/[id]/(group)/page.tsx:3"},
    ],
    "target": "packages/api/src/auth/session:Session",
    "candidates": ["packages/api/main:run", "packages/web/main:run", "react:useState"],
    "suggestion": "Also called 'run': packages/web/main:run. See packages/api/main.py.",
    "calls": ["seal lib/crypto.py:4", "run packages/api/main.py:3"],
    "notes": {"packages/api/main.py": {"count": 1, "best": ["#3 decision: lib"]}, "README.md": {"count": 2}},
    "path": "packages/api",
    "kind": "setup.py",
    "index": {"generation": 3, "pending": ["packages/api/main.py", "setup.py"]},
}


def test_what_is_here_is_told_without_the_folder_and_what_is_elsewhere_with_the_way_there():
    told = PART.told(ANSWER)
    chunk, other, third = told["results"]
    assert chunk["chunk"]["metadata"]["file_path"] == "main.py"
    assert chunk["chunk"]["title"] == "main.py › run"
    assert chunk["chunk"]["text"] == "import packages/api/main.py"
    assert chunk["chunk"]["id"] == "code-packages/api/main.py#run"
    assert other == {
        "at": "../web/app.py:7",
        "via": "../../lib/crypto:seal",
        "name": "login",
        "kind": "function",
    }
    assert third == {"file": "../../setup.py", "at": "app/[id]/(group)/page.tsx:3"}
    assert told["target"] == "src/auth/session:Session"
    assert told["candidates"] == ["main:run", "../web/main:run", "react:useState"]
    assert told["suggestion"] == "Also called 'run': ../web/main:run. See main.py."
    assert told["calls"] == ["seal ../../lib/crypto.py:4", "run main.py:3"]
    assert told["notes"] == {
        "main.py": {"count": 1, "best": ["#3 decision: lib"]},
        "../../README.md": {"count": 2},
    }
    assert told["path"] == "."
    assert told["index"] == {"generation": 3, "pending": ["main.py", "../../setup.py"]}


def test_names_that_complete_what_is_typed_are_told_from_here_already():
    """The folder has a README.md of its own, and so has the project."""
    assert PART.told({"values": ["README.md", "setup.py"]}) == {"values": ["README.md", "setup.py"]}


def test_every_place_that_is_told_can_be_asked_about():
    for place in (*FILES, "packages/web/main:run", "lib/crypto:seal"):
        told = PART.told({"at": place})["at"]
        assert PART.given("cortex_graph", {"target": told})["target"] == place


def test_of_notes_only_their_places_are_told_from_here():
    note = {
        "title": "packages/api/main.py is old",
        "body": "see lib/crypto.py",
        "files": ["packages/api/main.py"],
    }
    assert PART.told({"results": [note]}, of_notes=True) == {"results": [note | {"files": ["main.py"]}]}
    assert PART.told({"results": [note | {"source": "memory"}]})["results"][0]["title"] == note["title"]


@pytest.mark.parametrize(
    ("elsewhere", "explained", "said"),
    [
        (2, False, "elsewhere in the project there would be 2"),
        (2, True, "elsewhere in the project there would be 2"),
        (0, False, "Nothing matches `x`."),
        (0, True, "Nothing matches with tags"),
    ],
)
def test_an_empty_answer_says_what_is_elsewhere_or_keeps_what_says_why(elsewhere, explained, said):
    async def ask():
        return {"results": [{}] * elsewhere, "suggestion": "Nothing matches `x`."}

    here = {"results": [], "index": {"generation": 3}, "suggestion": 'Nothing matches with tags=["y"].'}
    told = asyncio.run(PART.ask_around(here, ask, 9.0, explained=explained))
    assert said in told["suggestion"]
    assert told["results"] == []
