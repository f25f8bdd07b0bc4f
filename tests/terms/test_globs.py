"""Globs against existing files: as in .gitignore, as an end of a path, in any case."""

import pytest

from cortex.system.errors import BadRequest
from cortex.terms.globs import matching_paths

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
