"""Globs against existing files: as in .gitignore, as an end of a path, in any case."""

import pytest

from cortex.system.errors import BadRequest
from cortex.terms.selection.globs import matching_paths

FILES = [
    "Makefile",
    "docs/guide.md",
    "src/auth/session.py",
    "src/auth/tests/test_session.py",
    "src/Web/page.ts",
    "vendor/src/auth/session.py",
]


@pytest.mark.parametrize(
    ("globs", "meant"),
    [
        (["*.md"], ["docs/guide.md"]),
        (["src"], [path for path in FILES if "src/" in path]),
        (["/src"], [path for path in FILES if path.startswith("src/")]),
        (["src/auth/session.py"], ["src/auth/session.py"]),
        (["./src/auth/*.py"], ["src/auth/session.py"]),
        (["auth/session.py"], ["src/auth/session.py", "vendor/src/auth/session.py"]),
        (["auth/tests/"], ["src/auth/tests/test_session.py"]),
        (["/auth/session.py"], []),
        (["SRC/web/**"], ["src/Web/page.ts"]),
        (["web/page.ts"], ["src/Web/page.ts"]),
        (["makefile", "*.md"], ["Makefile", "docs/guide.md"]),
        (["docs", "web/page.ts"], ["docs/guide.md", "src/Web/page.ts"]),
        (["nowhere/**"], []),
        (["# docs"], []),
        (["src/**", "!src/auth/**"], ["src/Web/page.ts"]),
        ([], []),
    ],
)
def test_a_glob_matches_exactly_else_by_the_end_else_in_any_case(globs, meant):
    assert matching_paths(FILES, globs) == set(meant)


def test_a_glob_that_cannot_be_read_is_refused():
    with pytest.raises(
        BadRequest, match=r"The glob .!. of the filters cannot be read .*; write it as in \.gitignore\."
    ):
        matching_paths(FILES, ["!"])


@pytest.mark.parametrize("glob", ["[z-a]", "[[:odd:]]", "a\0", "x" * 2000, "!", "\ufffd"])
def test_a_glob_that_cannot_be_read_is_an_error_that_names_it_shortly(glob):
    with pytest.raises(BadRequest, match="of the filters") as raised:
        matching_paths(FILES, ["src/**", glob])
    assert len(str(raised.value)) < 300


def test_globs_know_the_classes_that_git_knows():
    assert matching_paths(["a.5", "a.x", "b"], ["*.[[:digit:]]"]) == {"a.5"}


def test_too_many_globs_are_refused_before_any_is_read():
    with pytest.raises(BadRequest, match="has 50000 globs; at most 256"):
        matching_paths(FILES, ["[z-a]"] * 50_000)


def test_many_globs_match_the_same_as_each_alone():
    globs = ["nothing*"] * 20 + ["*.md", "auth/session.py", "MAKEFILE"]
    assert matching_paths(FILES, globs) == set().union(*(matching_paths(FILES, [glob]) for glob in globs))


@pytest.mark.parametrize("case", ["a", "A"])
def test_a_glob_of_nothing_but_stars_takes_no_longer_than_another(case):
    long = "a" * 4000
    assert matching_paths([long, long + "b"], [(f"*{case}" * 300) + "b"]) == {long + "b"}


ROUTES = [
    "app/(shop)/cart/page.ts",
    "app/[...all]/page.ts",
    "app/[[lang]]/page.ts",
    "app/[slug]/page.ts",
    "app/[user-id]/page.ts",
    "app/s/page.ts",
    "back\\slash.py",
    "curly{a,b}.py",
    "curlya.py",
    "dir[1]/a.py",
    "#notes/a.md",
    "lib/star*.py",
    "lib/star1.py",
    "!loud.py",
    "routes/[id=int]/page.ts",
]


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("form", ["{}", "./{}", "/{}"])
def test_a_path_that_is_there_is_this_path_whatever_its_letters(path, form):
    assert matching_paths(ROUTES, [form.format(path)]) == {path}


@pytest.mark.parametrize(
    ("glob", "meant"),
    [
        ("app/[slug]", ["app/[slug]/page.ts"]),
        ("app/[slug]/**", ["app/[slug]/page.ts"]),
        ("app/[slug]/*.ts", ["app/[slug]/page.ts"]),
        ("APP/[Slug]/**", ["app/[slug]/page.ts"]),
        ("[slug]/page.ts", ["app/[slug]/page.ts"]),
        ("**/[user-id]/**", ["app/[user-id]/page.ts"]),
        ("app/[...all]/**", ["app/[...all]/page.ts"]),
        ("app/[[lang]]", ["app/[[lang]]/page.ts"]),
        ("routes/[id=int]/", ["routes/[id=int]/page.ts"]),
        ("app/(shop)/**", ["app/(shop)/cart/page.ts"]),
        ("app/[s]/page.ts", ["app/s/page.ts"]),
        ("{curly{a,b}.py,dir[1]/**}", ["curly{a,b}.py", "dir[1]/a.py"]),
        ("{curlya,curlyb}.py", ["curlya.py"]),
        ("app\\[slug]\\page.ts", ["app/[slug]/page.ts"]),
        ("lib\\star1.py", ["lib/star1.py"]),
        ("lib/star?.py", ["lib/star*.py", "lib/star1.py"]),
        ("*.md", ["#notes/a.md"]),
    ],
)
def test_names_in_a_glob_are_literal_first_and_patterns_second(glob, meant):
    assert matching_paths(ROUTES, [glob]) == set(meant)


def test_names_that_are_excluded_are_literal_too():
    meant = matching_paths(ROUTES, ["app/**", "!app/[slug]/**", "!app/[user-id]/**"])
    assert meant == {path for path in ROUTES if path.startswith("app/")} - {
        "app/[slug]/page.ts",
        "app/[user-id]/page.ts",
    }


def test_a_file_that_is_called_like_a_pattern_of_endings_takes_no_pattern_away():
    assert matching_paths(["*.py", "a.py"], ["*.py"]) == {"*.py", "a.py"}


@pytest.mark.parametrize("glob", ["caf\u00e9/*.py", "cafe\u0301/*.py", "src/Caf\u00c9/**"])
@pytest.mark.parametrize("path", ["src/caf\u00e9/a.py", "src/cafe\u0301/a.py"])
def test_composed_and_decomposed_letters_are_the_same(glob, path):
    assert matching_paths([path, "src/cafe/a.py"], [glob]) == {path}
