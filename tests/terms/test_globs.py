"""Globs against the files that there are: as in .gitignore, as an end of a path, in any case."""

import pytest

from cortex.terms.globs import matching
from ipc.errors import BadRequest

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
        (["src"], [one for one in FILES if "src/" in one]),
        (["/src"], [one for one in FILES if one.startswith("src/")]),
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
def test_a_glob_means_what_it_matches_else_what_ends_so_else_what_is_so_in_any_case(globs, meant):
    assert matching(FILES, globs) == set(meant)


def test_a_glob_that_cannot_be_read_is_refused():
    with pytest.raises(BadRequest, match=r"A glob cannot be read: .*; write it as in \.gitignore\."):
        matching(FILES, ["!"])
