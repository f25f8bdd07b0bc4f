"""Code and notes in one order: each source keeps its own, and weak notes do not push code away."""

from hypothesis import given
from hypothesis import strategies as st

from cortex.ask.code_notes.merged_order import merge_order, merge_rows


@given(
    code=st.lists(st.floats(0, 2), max_size=8),
    notes=st.lists(st.floats(0, 2), max_size=8),
    strong=st.floats(0, 2),
)
def test_each_source_keeps_its_own_order_and_nothing_is_lost(code, notes, strong):
    code, notes = sorted(code, reverse=True), sorted(notes, reverse=True)
    places = merge_order(code, notes, strong)
    assert [at for is_note, at in places if is_note] == list(range(len(notes)))
    assert [at for is_note, at in places if not is_note] == list(range(len(code)))


def test_weak_notes_come_after_code_that_is_half_as_good_as_the_best():
    rows = [{"combined_score": 0.8}, {"combined_score": 0.5}]
    strong = merge_rows(rows, [{"score": 0.9, "title": "note"}])
    weak = merge_rows(rows, [{"score": 0.1, "title": "note"}])
    assert [row.get("source") for row in strong] == [None, "memory", None]
    assert [row.get("source") for row in weak] == [None, None, "memory"]
