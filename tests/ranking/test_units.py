"""Ranking of units: its rules, and that it is deterministic."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from cortex.ranking.units import ChunkHit, ScoredUnit, names_in, rank_units
from ipc.messages.units import UNIT_SIGNALS, UnitHits


def unit(path: str, start: int, symbol: str = "", size: int = 10, **more: Any) -> dict[str, Any]:
    fields = {"path": path, "start": start, "end": start + size - 1, **more}
    return fields | ({"symbol": symbol, "kind": "function"} if symbol else {})


def hits(units: list[dict[str, Any]], body: list[float] | None = None) -> UnitHits:
    values = np.zeros((len(UNIT_SIGNALS), len(units)), np.float32)
    values[0] = body or [1.0] * len(units)
    return UnitHits(1, UNIT_SIGNALS, values, tuple(orjson.dumps(fields) for fields in units))


def order(scored: list[ScoredUnit]) -> list[str]:
    return [scored_unit.unit.get("symbol", scored_unit.unit["path"]) for scored_unit in scored]


def test_a_unit_with_more_of_the_words_comes_first() -> None:
    unit_hits = hits([unit("a.py", 1, "first"), unit("a.py", 20, "other")], [2.0, 5.0])
    assert order(rank_units("how are leases renewed", unit_hits, {"a.py": (0.9, 1)}, [])) == [
        "other",
        "first",
    ]


def test_tests_come_last_unless_the_question_asks_for_them() -> None:
    unit_hits = hits([unit("tests/test_a.py", 1, "test_save"), unit("a.py", 1, "Store.save")], [9.0, 1.0])
    assert order(rank_units("how is a note saved", unit_hits, {}, [])) == ["Store.save", "test_save"]
    assert order(rank_units("tests that save a note", unit_hits, {}, [])) == ["test_save", "Store.save"]


def test_a_named_symbol_comes_before_its_namesake() -> None:
    unit_hits = hits([unit("b.py", 1, "Cache.save"), unit("a.py", 1, "Store.save")], [1.4, 1.0])
    assert order(rank_units("why does Store.save() fail", unit_hits, {}, []))[0] == "Store.save"
    assert order(rank_units("Cache#save", unit_hits, {}, []))[0] == "Cache.save"


def test_the_name_of_a_constructor_counts_as_its_owner_alone() -> None:
    unit_hits = hits([unit("a.java", 1, "Starter.Starter"), unit("a.java", 20, "Starter.run")])
    unit_hits.values[UNIT_SIGNALS.index("owner")] = 3.0
    unit_hits.values[UNIT_SIGNALS.index("name")] = [3.0, 1.0]
    assert order(rank_units("the starter stops", unit_hits, {}, []))[0] == "Starter.run"
    unit_hits = hits([unit("a.java", 1, "starter"), unit("a.java", 20, "Starter.run")])
    unit_hits.values[UNIT_SIGNALS.index("name")] = [3.0, 1.0]
    assert order(rank_units("the starter stops", unit_hits, {}, []))[0] == "starter"


def test_a_named_line_decides() -> None:
    unit_hits = hits(
        [unit("a.py", 1, "first"), unit("a.py", 20, "other", ranges=[[20, 22], [27, 29]])], [9.0, 1.0]
    )
    assert order(rank_units("error", unit_hits, {}, [], lines=[("a.py", 28)]))[0] == "other"
    assert order(rank_units("error", unit_hits, {}, [], lines=[("a.py", 25)]))[0] == "first"


def test_a_chunk_counts_for_the_units_that_share_its_lines() -> None:
    unit_hits = hits([unit("a.py", 1, "first"), unit("a.py", 20, "other")])
    chunk = ChunkHit("a.py", 18, 25, 0.5, 0.9)
    assert order(rank_units("error", unit_hits, {}, [chunk]))[0] == "other"


def test_equal_units_are_ordered_by_place() -> None:
    units = [unit("b.py", 1, "b"), unit("a.py", 40, "late"), unit("a.py", 1, "early")]
    assert order(rank_units("error", hits(units), {}, [])) == ["early", "late", "b"]
    assert order(rank_units("error", hits(units[::-1]), {}, [])) == ["early", "late", "b"]


def test_names_in_prose_are_those_of_code() -> None:
    assert names_in("does `Store.save` call flush_all() and writeRow? See Handler::handle") == [
        ("Store", "save"),
        ("flush_all",),
        ("writeRow",),
        ("Handler", "handle"),
    ]
    assert names_in("how are notes saved to the disk") == []
