"""Large diffs: found code, and the event loop beside them."""

import random
import time

from cortex.ask.exploring.functions import Function
from cortex.ask.references.changes import _find_innermost
from cortex.terms.kinds import TYPE_KINDS, WHOLE_KINDS


def test_each_line_of_a_diff_belongs_to_the_smallest_definition_around_it():
    draws = random.Random(1)
    kinds = ["function", min(TYPE_KINDS), min(WHOLE_KINDS)]
    for _ in range(50):
        definitions = [
            Function(f"a:f{n}", "a.py", start := draws.randrange(60), start + draws.randrange(20), kind)
            for n, kind in enumerate(draws.choices(kinds, k=20))
        ]
        numbers = sorted(draws.sample(range(90), 40))
        expected = {}
        for number in numbers:
            around = [
                definition
                for definition in definitions
                if definition.start <= number <= definition.end and definition.kind not in WHOLE_KINDS
            ]
            if around:
                expected[number] = min(
                    around,
                    key=lambda definition: (definition.end - definition.start, definition.kind in TYPE_KINDS),
                )
        assert _find_innermost(definitions, numbers) == expected


def test_a_diff_of_many_lines_and_definitions_takes_no_product_of_both():
    definitions = [Function(f"a:f{n}", "a.py", 5 * n, 5 * n + 3, "function") for n in range(3000)]
    began = time.monotonic()
    assert len(_find_innermost(definitions, range(150_000))) == 12_000
    assert time.monotonic() - began < 2.0
