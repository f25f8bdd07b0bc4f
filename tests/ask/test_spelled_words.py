"""A word of a question that code writes in several parts is found."""

import pytest

from cortex.ask.exploring.spellings import part_word
from tests.ask.searched import ask, write

FILES = {
    "src/Theme.kt": "package app\n\nfun chooseColorScheme(isDark: Boolean): Int {\n    return 1\n}\n",
    "src/Other.kt": "package app\n\nfun load(path: String): String {\n    return path\n}\n",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("spelled")
    write(root, FILES)
    return serve(root)


@pytest.mark.parametrize("query", ["colorscheme", "choose the colorscheme"])
def test_a_word_of_several_parts_is_found(served, query):
    answer = ask(served, query)
    assert answer["map"][0]["file"] == "src/Theme.kt"


def test_a_word_that_no_code_has_is_still_named(served):
    assert "does not hold `bananasplit`" in ask(served, "bananasplit")["suggestion"]


@pytest.mark.parametrize(
    ("text", "word", "written"),
    [
        ("val colorScheme = 1", "colorscheme", "colorScheme"),
        ("class BitwardenColorScheme", "colorscheme", "ColorScheme"),
        ("user_state: UserState", "userstate", "UserState"),
        ("commandOther()", "andother", ""),
        ("colorSchemes()", "colorscheme", ""),
        ("colorscheme", "colorscheme", ""),
    ],
)
def test_a_spelling_has_whole_parts_of_a_name(text, word, written):
    assert part_word(text, word) == written
