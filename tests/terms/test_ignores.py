"""Files of globs like .gitignore: the same result as git, and a reason for each line left out."""

import itertools
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.system.errors import Misconfigured
from cortex.terms.selection.ignores import GLOB_CHARS_MAX, GLOBS_MAX, Ignores, read_lines, read_setting
from tests.drawn_examples import scaled

PATHS = [
    "a.5", "a.x", "b/a.5", "b/c/a.x", "b/c/d", "x", "b/x", "name", "b/name", "build/x/y", "b/build/z", "Z/a b",
    "b/[z]", "deep/er/and/er",
]  # fmt: skip


def taken(ignores: Ignores, paths=PATHS) -> list[str]:
    """Decide as a walk does: the folders first."""
    matches = []
    for path in paths:
        ends = [at for at, letter in enumerate(path) if letter == "/"]
        if any(ignores.match(path[: end + 1]) for end in ends) or ignores.match(path):
            matches.append(path)
    return matches


def git_ignores(folder, text: bytes) -> list[str]:
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / ".gitignore").write_bytes(text)
    completed = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z"],
        input="\0".join(PATHS).encode(), cwd=folder, capture_output=True, check=False,
    )  # fmt: skip
    return completed.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize(
    "text",
    [
        "*.[[:digit:]]", "[[:alpha:]]", "*.[![:digit:]]", "name", "/name", "name/", "build/", "b/c", "/b/c/", "c/d",
        "b/**/d", "**/er", "er/*", "*\n!x", "*.x\n!b/c/a.x", "x\r\nname\r\n", "\ufeffname", "\\[z]", "Z/a b", " name",
        "name ", "#name", "\\#name", "b/", "!x", "build\nname\n/x\n", "b/name\nx/", "deep/er", "er/", "[a-z]\n/b\n",
        "Z", "and", "/build", "b/build", "deep//er", "./name", "/", "b/x/",
    ],
)  # fmt: skip
def test_files_that_git_ignores_are_ignored(tmp_path, text):
    ignored = git_ignores(tmp_path, text.encode())
    assert taken(read_lines(text)) == [path for path in PATHS if path in ignored]


WRONG = [
    ("[k-a]", "cannot be read (bad character range k-a)"),
    ("[[:nonsense:]]", "holds the unknown class [:nonsense:]"),
    ("a" * 100_000, f"is longer than {GLOB_CHARS_MAX} characters"),
    ("a\0b", "holds a NUL character"),
    ("a\ufffd", "is not UTF-8"),
    ("\ud800", "is not UTF-8"),
    ("!", "cannot be read"),
    ("\\", "cannot be read"),
]


@pytest.mark.parametrize(("line", "why"), WRONG)
def test_an_invalid_line_is_reported_and_the_others_count(line, why):
    ignores = read_lines(f"*.5\n{line}\nname\n")
    assert taken(ignores) == ["a.5", "b/a.5", "name", "b/name"]
    (fault,) = ignores.faults
    assert fault.line == 2
    assert fault.why.startswith(why)


@pytest.mark.parametrize(("line", "why"), WRONG)
def test_a_setting_with_an_invalid_glob_is_refused_with_its_name(line, why):
    with pytest.raises(Misconfigured, match=r"of indexing\.ignore") as raised:
        read_setting(["*.py", line], "indexing.ignore")
    assert why in str(raised.value)
    assert len(str(raised.value)) < 300


def test_a_hundred_thousand_names_are_looked_up():
    ignores = read_lines("\n".join(f"name{at}.txt" for at in range(100_000)) + "\n*.x\n")
    assert ignores.faults == ()
    assert taken(ignores, ["a/name99999.txt", "name1.txt", "name1.txt/b", "name100000.txt", "a.x"]) == [
        "a/name99999.txt", "name1.txt", "name1.txt/b", "a.x",
    ]  # fmt: skip


def test_the_first_of_too_many_globs_count_and_the_others_are_reported():
    ignores = read_lines("\n".join(f"*{at}.txt" for at in range(GLOBS_MAX + 5)))
    assert [fault.line for fault in ignores.faults] == list(range(GLOBS_MAX + 1, GLOBS_MAX + 6))
    assert taken(ignores, ["a/b999.txt", "a/b.txt"]) == ["a/b999.txt"]
    with pytest.raises(Misconfigured, match=f"more than {GLOBS_MAX} globs"):
        read_setting([f"*{at}" for at in range(50_000)], "indexing.include")


def test_a_glob_of_nothing_but_stars_takes_no_longer_than_another():
    ignores = read_lines("*a" * 500 + "b")
    assert not ignores.match("a" * 4000)
    assert ignores.match("a" * 4000 + "b")


LINE = st.text(st.sampled_from("ab/*?[]!-\\ #."), min_size=1, max_size=8)


@settings(max_examples=scaled(300), deadline=None)
@given(lines=st.lists(LINE, min_size=1, max_size=4))
def test_any_line_is_compiled_or_reported(lines):
    ignores = read_lines("\n".join(lines))
    assert {fault.line for fault in ignores.faults} <= set(range(1, len(lines) + 1))
    for path in map("".join, itertools.product("ab/", repeat=3)):
        ignores.decide(path.strip("/") or "a")
