"""Ids of the graph, and their parts."""

import pytest

from cortex.terms.ids import split_id


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("app/user:User./", ["app", "user", "User", "/"]),
        ("lib/range:Range...~2", ["lib", "range", "Range", ".."]),
        ("Path::/=", ["Path", "/="]),
        ("src/", ["src"]),
        ("Story::", ["Story"]),
        ("a:Store.full?", ["a", "Store", "full?"]),
        ("a:Api.<GET /orders/>", ["a", "Api", "<GET ", "orders", ">"]),
    ],
)
def test_an_operator_with_a_separator_is_the_last_part_of_its_id(name, parts):
    assert split_id(name) == parts
