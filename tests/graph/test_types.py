"""Declared types of any text: a type without information never ends an index run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.graph.facts.declared.types import alternatives


@pytest.mark.parametrize(
    "text", ["", "[]", "()", "[:]", "List<>", "tuple[]", "Array<>", "map[", "[", "(,)", "Optional[]"]
)
def test_a_type_without_a_name_or_an_element_says_nothing_or_its_own_name(text):
    assert all(name for name in alternatives(text))


@given(st.text("[]()<>{}:;,|&*?. mapTListOptional->\"'", max_size=24))
def test_no_text_is_too_odd_for_a_type(text):
    alternatives(text)


def test_elements_of_containers_are_marked():
    assert alternatives("[]Ledger") == ("Ledger*",)
    assert alternatives("[Ledger; 4]") == ("Ledger*",)
    assert alternatives("list[Ledger]") == ("Ledger*",)
    assert alternatives("SortedMap<String, Ledger>") == ("Ledger*",)
    assert alternatives("iterable<Ledger>") == ("Ledger*",)
    assert alternatives("std::unordered_multimap<int, Ledger, Hash>") == ("Ledger*",)
