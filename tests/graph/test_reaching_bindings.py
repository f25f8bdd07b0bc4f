"""Bindings of a name that reach a place."""

from __future__ import annotations

import random

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


def test_the_bindings_at_a_place_are_those_whose_range_has_it() -> None:
    draw = random.Random(7)
    for _ in range(300):
        begins = [draw.randrange(40) for _ in range(draw.randrange(2, 12))]
        sites = [
            Binding("app", str(number), -1, begin, draw.choice((0, begin + draw.randrange(30))))
            for number, begin in enumerate(begins)
        ]
        meanings = Meanings(sites, ())
        for at in draw.sample(range(75), 20):
            reaching = [site for site in sites if site.at <= at and (at < site.until or not site.until)]
            assert meanings.at(at).places == tuple(sorted(reaching, key=lambda site: site.at))


def test_blocks_beside_a_place_are_not_read() -> None:
    class Counted(list[tuple[int, int, int]]):
        reads = 0

        def __getitem__(self, at):  # type: ignore[no-untyped-def]
            Counted.reads += 1
            return super().__getitem__(at)

    blocks = [Binding("app", "", -1, 0, 100_000), *map(block, range(1, 2_000))]
    meanings = Meanings(blocks, ())
    meanings.at(5)
    meanings._bound = Counted(meanings._bound)
    for number in range(1, 2_000):
        meanings.at(number * 10 + 2)
    assert Counted.reads < 2_000 * 20
