"""The floor: what a question must share with the index to have an answer."""

from __future__ import annotations

import numpy as np

from cortex.ranking.floor import Evidence, gather_evidence, unknown_words
from ipc.messages import WordCounts
from ipc.messages.units import UNIT_SIGNALS, UnitHits

COUNTS = WordCounts(1, 1000, {"lane_body renew": 4, "lane_body leas": 6, "lane_path leas": 1})


def hits(best: float) -> UnitHits:
    values = np.zeros((len(UNIT_SIGNALS), 1), np.float32)
    values[0] = best
    return UnitHits(1, UNIT_SIGNALS, values, (b"{}",))


def test_a_question_of_known_words_fits() -> None:
    evidence = gather_evidence("renew lease", COUNTS, hits(9.0))
    assert evidence.known_share == 1.0
    assert evidence.fits


def test_a_question_of_unknown_words_does_not_fit() -> None:
    evidence = gather_evidence("knit woollen sweater", COUNTS, hits(0.0))
    assert evidence.known_share == 0.0
    assert not evidence.fits
    assert unknown_words("knit a woollen sweater, renew", COUNTS) == ["knit", "woollen", "sweater"]


def test_in_a_small_index_one_known_word_is_enough() -> None:
    few = WordCounts(1, 6, {"lane_body order": 4})
    assert gather_evidence("how is an order paid", few, hits(0.5)).fits
    assert not gather_evidence("knit woollen sweater", few, hits(0.0)).fits
    many = WordCounts(1, 6_000, {"lane_body order": 4_000})
    assert not gather_evidence("how is an order paid", many, hits(0.5)).fits


def test_a_near_meaning_makes_up_for_unknown_words() -> None:
    assert Evidence(0.4, 0.2, 0.6).margin > Evidence(0.4, 0.2, 0.2).margin
    assert Evidence(0.5, 0.2, 0.6).fits
    assert not Evidence(0.3, 0.1, 0.1).fits


def test_without_counts_everything_fits() -> None:
    assert gather_evidence("knit", WordCounts(), hits(0.0)).fits
