"""What a place said, found again among other lines, and which of its lines are others now."""

from hypothesis import given
from hypothesis import strategies as st

from cortex.ask.code_notes.fingerprints import LINES_MAX, Text

LINES = st.lists(st.sampled_from(["a", "b", "c", "d e", ""]), min_size=1, max_size=12)


def text(*lines):
    return Text.of("\n".join(lines).encode())


@given(before=LINES, inner=LINES, after=LINES)
def test_the_same_lines_are_found_wherever_they_stand(before, inner, after):
    inner = ["#", *inner, "%"]  # which stand nowhere else
    spoken = text(*inner).all_spoken()
    whole = text(*before, *inner, *after)
    assert whole.find(spoken) == (len(before) + 1, len(before) + len(inner))
    assert text(*before, *after).find(spoken) is None


@given(lines=LINES, at=st.integers(0, 11), new=LINES)
def test_the_changed_lines_are_those_between_what_is_equal(lines, at, new):
    lines = ["first", *lines, "last"]
    at = 1 + at % (len(lines) - 2)
    changed = [*lines[:at], *(f"{one}!" for one in new), *lines[at + 1 :]]
    found = text(*changed).changed(text(*lines).all_spoken(), 1, len(changed))
    assert found == (at + 1, at + len(new))


def test_lines_that_were_only_taken_away_are_told_by_their_place():
    spoken = text("a", "b", "c").all_spoken()
    assert text("a", "c").changed(spoken, 1, 2) == (2, 2)
    assert text("a", "b").changed(spoken, 1, 2) == (2, 2)


def test_ends_of_lines_do_not_count():
    assert Text.of(b"a  \r\nb\r\n").all_spoken() == Text.of(b"a\nb").all_spoken()


def test_of_very_long_places_only_the_whole_is_compared():
    long = text(*map(str, range(LINES_MAX + 1)))
    assert ":" not in long.all_spoken()
    assert long.find(long.all_spoken()) is None
    assert long.changed(long.all_spoken(), 1, 7) == (1, 7)
