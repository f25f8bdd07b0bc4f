"""The lines of a definition that an answer shows."""

import itertools

from cortex.ask.lines import excerpt
from cortex.ask.lines.excerpt import choose_lines

LINES = dict(
    enumerate(
        ["def run(", "    one,", ") -> int:", '    """Words of the question: token token."""']
        + [f"    step_{number} = {number}" for number in range(40)]
        + ["    return finish(token)"],
        10,
    )
)


def test_a_definition_that_fits_is_shown_without_cuts():
    excerpt = choose_lines(LINES, {}, (), 10_000)
    assert not excerpt.cut
    assert excerpt.text.split("\n") == list(LINES.values())


def test_the_signature_and_the_call_of_the_next_function_come_first():
    excerpt = choose_lines(LINES, {}, (30,), 120)
    assert excerpt.cut
    lines = excerpt.text.split("\n")
    assert lines[:3] == ["def run(", "    one,", ") -> int:"]
    assert "    step_16 = 16" in lines


def test_left_out_lines_are_named_by_their_numbers_and_nothing_else_is_lost():
    excerpt = choose_lines(LINES, {}, (30,), 120)
    counted = 0
    for line in excerpt.text.split("\n"):
        if line.startswith("⋯ "):
            first, last = map(int, line.removeprefix("⋯ ").split("-"))
            counted += last - first + 1
        else:
            counted += 1
    assert counted == len(LINES)


def test_a_word_of_the_question_counts_more_in_code_than_in_a_docstring():
    excerpt = choose_lines(LINES, {"token": 1.0}, (), 75)
    assert "return finish(token)" in excerpt.text
    assert "Words of the question" not in excerpt.text


def test_common_indentation_is_cut():
    lines = {1: "        if a:", 2: "            b()"}
    assert choose_lines(lines, {}, (), 1000).text == "if a:\n    b()"


def test_the_words_of_a_line_are_added_up_as_they_stand_there():
    worth = {"alpha": 1e16, "beta": 1.0, "gamma": -1e16}
    for words in itertools.permutations(worth):
        expected = 0.0
        for word in words:
            expected += worth[word]
        assert excerpt._score_lines({1: " ".join((*words, *words))}, worth) == {1: expected}
