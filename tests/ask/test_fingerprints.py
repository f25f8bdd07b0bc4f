"""Fingerprints of places, found again among other lines, and the changed lines of a place."""

from hypothesis import given
from hypothesis import strategies as st

from cortex.ask.code_notes.places import LINES_MAX, TextLines

LINES = st.lists(st.sampled_from(["a", "b", "c", "d e", ""]), min_size=1, max_size=12)


def text(*lines):
    return TextLines.of("\n".join(lines).encode())


@given(before=LINES, inner=LINES, after=LINES)
def test_moved_lines_are_found_at_their_new_place(before, inner, after):
    inner = ["#", *inner, "%"]  # nowhere else
    spoken = text(*inner).full_fingerprint()
    surrounded = text(*before, *inner, *after)
    assert surrounded.find(spoken) == (len(before) + 1, len(before) + len(inner))
    assert text(*before, *after).find(spoken) is None


@given(lines=LINES, at=st.integers(0, 11), new=LINES)
def test_the_changed_lines_are_those_between_equal_ones(lines, at, new):
    lines = ["first", *lines, "last"]
    at = 1 + at % (len(lines) - 2)
    changed = [*lines[:at], *(f"{line}!" for line in new), *lines[at + 1 :]]
    span = text(*changed).changed_span(text(*lines).full_fingerprint(), 1, len(changed))
    assert span == (at + 1, at + len(new))


def test_removed_lines_are_reported_by_their_place():
    spoken = text("a", "b", "c").full_fingerprint()
    assert text("a", "c").changed_span(spoken, 1, 2) == (2, 2)
    assert text("a", "b").changed_span(spoken, 1, 2) == (2, 2)


def test_ends_of_lines_do_not_count():
    assert TextLines.of(b"a  \r\nb\r\n").full_fingerprint() == TextLines.of(b"a\nb").full_fingerprint()


def test_very_long_places_are_compared_by_one_hash():
    long = text(*map(str, range(LINES_MAX + 1)))
    assert ":" not in long.full_fingerprint()
    assert long.find(long.full_fingerprint()) is None
    assert long.changed_span(long.full_fingerprint(), 1, 7) == (1, 7)
