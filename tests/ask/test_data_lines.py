"""Lines of files of data that name a definition."""

import pytest

from cortex.ask.references.word_lines import TextLine, WordLines, list_others


def test_a_name_of_several_parts_counts_as_a_key_or_a_value():
    for name in ("skip-missing-interpreters", "answer_tokens", "sendMail", "BASE", "aA" * 30_000):
        lines = {("a.yml", 1): TextLine("", f"{name}: true"), ("a.yml", 2): TextLine("", f"- no {name} here")}
        others = list_others(name, WordLines(lines, truncated=False), (), (), 1_000)
        assert (others["total"], others["texts"]) == (1, 1), name[:30]


def test_a_closing_tag_is_not_listed():
    lines = {("a.vue", 1): TextLine("", "<Card>"), ("a.vue", 9): TextLine("", "</Card>")}
    others = list_others("Card", WordLines(lines, truncated=False), {("a.vue", 1)}, (), 1_000)
    assert (others["total"], others["texts"]) == (0, 0)


def test_a_path_to_a_function_counts_behind_a_key_of_the_same_name():
    lines = {("a.yml", 1): TextLine("", "run: app:run"), ("a.yml", 2): TextLine("", "run: fast")}
    others = list_others("run", WordLines(lines, truncated=False), (), (), 1_000)
    assert [(file["file"], [site["line"] for site in file["sites"]]) for file in others["files"]] == [
        ("a.yml", [1])
    ]


@pytest.mark.parametrize(
    ("path", "line", "is_code"),
    [
        ("compose.yml", 'interval: "$WAIT_TIME"', True),
        ("compose.yml", "time: &WAIT_TIME", True),
        ("compose.yml", "<<: [*WAIT_TIME, *other]", True),
        ("compose.yml", "run: sleep $WAIT_TIME now", True),
        ("compose.yml", "run: sleep WAIT_TIME now", False),
        ("compose.yml", "run: sleep $WAIT_TIMES now", False),
        ("Makefile", "all: first WAIT_TIME last", True),
        ("Makefile", "all: first WAIT_TIME-long last", False),
        ("Makefile", "# first WAIT_TIME last", False),
        ("Dockerfile", "ARG FIRST WAIT_TIME", True),
    ],
)
def test_a_variable_an_anchor_and_a_word_of_a_command_count(path, line, is_code):
    lines = WordLines({(path, 1): TextLine("", line)}, truncated=False)
    assert list_others("WAIT_TIME", lines, (), (), 1_000)["total"] == is_code
