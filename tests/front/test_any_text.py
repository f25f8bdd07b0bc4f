"""Any text from a model: every tool answers or refuses with a sentence, and an empty answer names
the filter responsible.
"""

import asyncio
from dataclasses import replace

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortex.front.tools import TOOLS
from cortex.system.errors import BadRequest, NotFound
from tests.drawn_examples import scaled

#: required arguments of each tool besides the generated one
NEEDED = {
    "cortex_graph": {"operation": "callers", "target": "rotate"},
    "cortex_pattern": {"pattern": "f($A)", "language": "python"},
    "cortex_outline": {},
    "find_related": {"file": "src/auth/session.py"},
}
#: arguments that turn a search into one of memory, which has tests of its own
OF_MEMORY = {("cortex_search", name) for name in ("scope", "as_of", "project")}
TEXTS = [
    (tool, name)
    for tool, definition in TOOLS.items()
    for name, field in definition.schema["properties"].items()
    if definition.asks(dict.fromkeys(definition.schema["properties"]) | {name: "x"}) == "code"
    and (field["type"] == "string" or field.get("items", {}).get("type") == "string")
    and (tool, name) not in OF_MEMORY
]


def ask(served, tool, **arguments):
    definition = TOOLS[tool]
    return orjson.loads(
        orjson.dumps(asyncio.run(definition.call(served.context(), definition.check(arguments))))
    )


PIECES = st.sampled_from(
    ["src/auth/session.py", ":12", ":3", "SessionStore", ".", "::", "->", "refresh_token", "()", "(*", ")", "<T>", "[",
     "]", "{a,b}", '"', "'", "`", "\\", "/", "./", "C:\\", "**", "!", "#L4", " ", "\n", "TODO: x", "http://a:1", "null", "[1]",
     '["a"]', "{}", "_ZN4", "_R", "$", "~2", "^", "é", "\ud800", "\0", 'File "a.py", line 3, in b', "at a (b.js:1:2)", "go", "AND", "-"]
)  # fmt: skip


@settings(max_examples=scaled(60), deadline=None)
@given(
    st.sampled_from(TEXTS),
    st.text(max_size=40)
    | st.lists(PIECES, max_size=6).map("".join)
    | st.none()
    | st.lists(PIECES, max_size=3),
)
@example(("find_related", "file"), '  File "src/auth/session.py", line 11, in refresh_token')
@example(("cortex_graph", "target"), "\ud800::x")
@example(("cortex_outline", "path"), "\0")
def test_any_text_in_any_argument_is_answered_or_refused(sample, where, value):
    tool, name = where
    needed = NEEDED.get(tool, {"query": "refresh a token"})
    if tool == "find_related" and name == "chunk_id":
        needed = {}
    try:
        answer = ask(sample, tool, **{**needed, name: value})
    except (BadRequest, NotFound):
        return
    assert "index" in answer


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("cortex_exact", {"query": "rotate", "paths": "nowhere/**"}, 'with paths=["nowhere/**"]; without it'),
        ("cortex_exact", {"query": "rotate", "tags": "rust"}, 'with tags=["rust"]; without it'),
        (
            "cortex_search",
            {"query": "rotate", "exclude_paths": "**"},
            'with exclude_paths=["**"]; without it',
        ),
        ("cortex_search", {"query": "rotate", "min_score": 1}, "with min_score=1.0; without it"),
        ("code_context", {"query": "rotate", "lang": "rust"}, 'with lang="rust"; without it'),
        ("cortex_graph", {**NEEDED["cortex_graph"], "scope": "no/**"}, 'with scope="no/**"; without it'),
        (
            "cortex_pattern",
            {"pattern": "rotate($A)", "language": "py", "paths": ["docs/**"]},
            'with paths=["docs/**"]; without it',
        ),
        (
            "cortex_exact",
            {"query": "rotate", "paths": "no/**", "tags": "rust"},
            'with paths=["no/**"] and tags=["rust"]; without them',
        ),
    ],
)
def test_a_filter_that_removes_everything_is_named_with_the_count_without_it(
    sample, tool, arguments, sentence
):
    answer = ask(sample, tool, **arguments)
    assert f"Nothing matches {sentence} there would be " in answer["suggestion"]
    assert int(answer["suggestion"].split("there would be ")[1].partition(".")[0]) > 0


def test_a_filter_is_named_in_the_text_answer_for_an_agent(sample):
    definition = TOOLS["cortex_search"]
    context = replace(sample.context(), audience="agent")
    arguments = definition.check({"query": "how is a session rotated", "paths": ["no/**"]})
    answer = asyncio.run(definition.call(context, arguments))
    assert answer["map"] == []
    assert answer["suggestion"].startswith('Nothing matches with paths=["no/**"]; without it there would be ')


def test_a_filter_is_not_blamed_without_hits_anywhere(sample):
    answer = ask(sample, "cortex_exact", query="zzzyyyxxx", paths="src/**")
    assert "without it there would be" not in answer["suggestion"]


@pytest.mark.parametrize("path", [".", "./src", "src\\auth", "auth/session.py", "src/auth/session.py:11"])
def test_a_path_filter_is_understood_in_any_spelling(sample, path):
    assert ask(sample, "cortex_exact", query="rotate", paths=path)["total_found"]
    full_path = f"{sample.config.root}/src/auth"
    assert ask(sample, "cortex_exact", query="rotate", paths=full_path)["total_found"]


def test_languages_and_tags_accept_common_names(sample):
    assert ask(sample, "code_context", query="rotate", lang="py")["hits"]
    totals = [
        ask(sample, "cortex_exact", query="refresh_token", tags=tag)["total_found"]
        for tag in ("test", "tests")
    ]
    assert totals[0] == totals[1] > 0
    with pytest.raises(BadRequest, match=r"no language 'pyhton' in the index \(did you mean 'python'\?\)"):
        ask(sample, "code_context", query="rotate", lang="pyhton")


@pytest.fixture(scope="module")
def languages(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("languages")
    for name in ("a.js", "b.jsx", "c.ts", "d.tsx", "e.py", "f.go", "g.md"):
        (root / name).write_text(
            {"e.py": "WORD = 1\n", "f.go": "package f\nvar WORD = 1\n"}.get(name, "WORD\n")
        )
    return serve(root)


@pytest.mark.parametrize(
    ("called", "files"),
    [
        ("js", "a.js b.jsx"),
        ("jsx", "a.js b.jsx"),
        ("ts", "c.ts d.tsx"),
        ("TypeScript", "c.ts d.tsx"),
        ("tsx", "d.tsx"),
        ("py", "e.py"),
        ("golang", "f.go"),
        ("md", "g.md"),
    ],
)
def test_every_filter_by_language_knows_usual_names(languages, called, files):
    context = ask(languages, "code_context", query="WORD", lang=called)["hits"]
    assert " ".join(sorted({hit["file"] for hit in context})) == files
    for name, query, more in (
        ("cortex_search", "WORD", {"tags": [called]}),
        ("cortex_exact", "WORD", {"tags": [called]}),
        ("cortex_exact", f"WORD AND language:{called}", {}),
        ("cortex_exact", f"WORD AND tags:{called}", {}),
    ):
        results = ask(languages, name, query=query, detail="location", **more)["results"]
        files_found = {result["chunk"]["metadata"]["file_path"] for result in results}
        assert " ".join(sorted(files_found)) == files, (name, query)


def test_a_field_of_an_unknown_language_names_the_nearest(languages):
    answer = ask(languages, "cortex_exact", query="WORD AND language:pyhton")
    assert "No file is in language `pyhton` (did you mean `python`?)" in answer["suggestion"]


def test_more_than_was_returned_is_truncated(sample):
    every = ask(sample, "cortex_exact", query="token", detail="full")
    first_page = ask(sample, "cortex_exact", query="token", limit=1, detail="full")
    assert (every["truncated"], first_page["truncated"], first_page["total_returned"]) == (False, True, 1)
    last = ask(sample, "cortex_exact", query="token", limit=1, offset=every["total_found"] - 1, detail="full")
    assert not last["truncated"]


@pytest.mark.parametrize(
    "file",
    [
        "session.py:11",
        "./src/auth/session.py:11:5",
        "src\\auth\\session.py:11",
        '  File "/srv/src/auth/session.py", line 11, in x',
    ],
)
def test_a_place_is_understood_in_any_spelling(sample, file):
    target = ask(sample, "find_related", file=file)["target"]
    assert target["file"] == "src/auth/session.py"
    assert target["symbols"] == ["SessionStore.refresh_token"]


def test_code_is_found_as_the_text_that_it_is_and_said_so(sample):
    answer = ask(sample, "cortex_exact", query="token[1:] + token[:1]")
    assert (answer["match_type"], answer["total_found"]) == ("substring", 1)
    assert "Read as the literal text `token[1:] + token[:1]`." in answer["suggestion"]
