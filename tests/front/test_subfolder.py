"""Arguments and answers of a folder that the index around it serves, in its own paths."""

import asyncio

import pytest

from cortex.front.argument_forms import locate_arguments
from cortex.front.subfolder import Subfolder

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
        return any(file == path or file.startswith(f"{path}/") for file in FILES)


SUBFOLDER = Subfolder("packages/api", ROOT, Listed())


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
        # the workers resolve names, and paths that are elsewhere or do not exist
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
    assert SUBFOLDER.to_project("cortex_graph", {"target": written})["target"] == meant


def test_a_path_of_a_map_may_be_a_folder_and_nothing_is_all_of_this_one():
    assert SUBFOLDER.to_project("cortex_outline", {"path": "src"}) == {"path": "packages/api/src"}
    assert SUBFOLDER.to_project("cortex_outline", {"path": ""}) == {"path": "packages/api"}


def test_places_to_read_may_be_files_folders_and_names():
    converted = SUBFOLDER.to_project("cortex_read", {"places": ("src", "main.py:3-9", "Session.refresh")})
    assert converted == {"places": ("packages/api/src", "packages/api/main.py:3-9", "Session.refresh")}


def test_a_question_is_a_place_only_where_it_may_be_one():
    assert SUBFOLDER.to_project("cortex_explore", {"query": "main.py:3"}) == {
        "query": "packages/api/main.py:3"
    }
    assert SUBFOLDER.to_project("cortex_exact", {"query": "main.py"}) == {"query": "main.py"}


def test_a_tag_is_a_path_only_where_it_is_a_files():
    converted = SUBFOLDER.to_project("cortex_search", {"tags": ("src", "go", "main.py")})
    assert converted == {"tags": ("src", "go", "packages/api/main.py")}


def test_note_arguments_convert_only_their_file_paths():
    """A tag is a person's own word, and where notes are written to is no file of the project."""
    written = {"tags": ("main.py",), "file": "../notes.jsonl", "to": "./main.py"}
    places = dict.fromkeys(("files", "anchors", "files_read", "files_modified"), ("main.py",))
    converted = SUBFOLDER.to_project("cortex_store", written | places, of_notes=True)
    assert converted == written | dict.fromkeys(places, ("packages/api/main.py",))


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
    converted = SUBFOLDER.to_project("cortex_search", {"paths": (written,)})
    assert converted == {"paths": meant}


def test_a_folder_whose_name_looks_like_a_glob_is_none():
    subfolder = Subfolder("app/[id]", ROOT, Listed())
    converted = subfolder.to_project("cortex_search", {"paths": ("*.tsx", "../**")})
    assert converted == {"paths": (r"/app/\[id\]/**/*.tsx", "/app/**")}


def test_a_glob_in_which_the_roots_path_stands_later_on_is_read_from_the_folder():
    """The root is a short one where the project is all that a container holds."""
    subfolder = Subfolder("server", "/app", Listed())
    converted = subfolder.to_project("cortex_search", {"paths": ("src/app/**", "/app/web/**", "/apps/**")})
    assert converted == {"paths": ("/server/src/app/**", "/app/web/**", "/server/apps/**")}


def test_globs_in_one_text_are_converted():
    converted = SUBFOLDER.to_project("cortex_graph", {"scope": "src/**, ../web/**"})
    assert locate_arguments(converted, ROOT)["scope"] == "{/packages/api/src/**,/packages/web/**}"


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


def test_answers_use_paths_relative_to_the_folder():
    answer = SUBFOLDER.to_folder(ANSWER)
    chunk, other, third = answer["results"]
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
    assert answer["target"] == "src/auth/session:Session"
    assert answer["candidates"] == ["main:run", "../web/main:run", "react:useState"]
    assert answer["suggestion"] == "Also called 'run': ../web/main:run. See main.py."
    assert answer["calls"] == ["seal ../../lib/crypto.py:4", "run main.py:3"]
    assert answer["notes"] == {
        "main.py": {"count": 1, "best": ["#3 decision: lib"]},
        "../../README.md": {"count": 2},
    }
    assert answer["path"] == "."
    assert answer["index"] == {"generation": 3, "pending": ["main.py", "../../setup.py"]}


def test_completed_names_are_already_relative_to_the_folder():
    """The folder has a README.md of its own, and so has the project."""
    assert SUBFOLDER.to_folder({"values": ["README.md", "setup.py"]}) == {"values": ["README.md", "setup.py"]}


def test_every_shown_place_is_a_valid_argument():
    for place in (*FILES, "packages/web/main:run", "lib/crypto:seal"):
        folder_path = SUBFOLDER.to_folder({"at": place})["at"]
        assert SUBFOLDER.to_project("cortex_graph", {"target": folder_path})["target"] == place


def test_only_the_paths_of_notes_are_converted():
    note = {
        "title": "packages/api/main.py is old",
        "body": "see lib/crypto.py",
        "files": ["packages/api/main.py"],
    }
    assert SUBFOLDER.to_folder({"results": [note]}, of_notes=True) == {
        "results": [note | {"files": ["main.py"]}]
    }
    assert (
        SUBFOLDER.to_folder({"results": [note | {"source": "memory"}]})["results"][0]["title"]
        == note["title"]
    )


@pytest.mark.parametrize(
    ("elsewhere", "explained", "sentence"),
    [
        (2, False, "elsewhere in the project there would be 2"),
        (2, True, "elsewhere in the project there would be 2"),
        (0, False, "Nothing matches `x`."),
        (0, True, "Nothing matches with tags"),
    ],
)
def test_an_empty_answer_counts_hits_elsewhere_or_keeps_its_reason(elsewhere, explained, sentence):
    async def ask():
        return {"results": [{}] * elsewhere, "suggestion": "Nothing matches `x`."}

    empty_answer = {
        "results": [],
        "index": {"generation": 3},
        "suggestion": 'Nothing matches with tags=["y"].',
    }
    answer = asyncio.run(SUBFOLDER.suggest_elsewhere(empty_answer, ask, 9.0, explained=explained))
    assert sentence in answer["suggestion"]
    assert answer["results"] == []
