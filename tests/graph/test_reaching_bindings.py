"""Bindings of a name that reach a place."""

from __future__ import annotations

from cortex.graph.facts.facts import Binding
from cortex.graph.facts.reaching_bindings import Meanings


def block(number: int) -> Binding:
    return Binding("app", f"make{number}()", -1, number * 10, number * 10 + 5)


def test_in_hundreds_of_blocks_a_name_means_what_its_own_block_binds() -> None:
    blocks = [block(number) for number in range(300)]
    meanings = Meanings(blocks, ())

    assert [meanings.at(number * 10 + 2).places for number in range(300)] == [
        (binding,) for binding in blocks
    ]


def test_places_with_the_same_meanings_share_a_number() -> None:
    outer = Binding("app", "make()", -1, 0, 0)
    meanings = Meanings([outer, block(2), block(4)], ())

    before, inside, between, behind = (meanings.at(at) for at in (15, 22, 30, 60))

    assert before == between == behind
    assert before.places == (outer,)
    assert inside.places == (outer, block(2))
    assert inside.number != before.number


def test_nothing_holds_before_it_is_bound_and_behind_its_block() -> None:
    meanings = Meanings([block(2)], ())

    assert [meanings.at(at).places for at in (19, 20, 24, 25)] == [(), (block(2),), (block(2),), ()]
