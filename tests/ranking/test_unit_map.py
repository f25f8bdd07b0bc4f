"""The map of a question: which units stand in it."""

import pytest

from cortex.ranking.unit_map import SAME_NAME_MAX, choose_mapped
from cortex.ranking.units import SIGNALS, ScoredUnit


def unit(at: int, symbol: str, kind: str = "method", **signals: float) -> ScoredUnit:
    values = tuple(signals.get(name, 0.0) for name in SIGNALS)
    shape = {"path": f"provider/p{at}.go", "start": 1, "end": 9, "symbol": symbol, "kind": kind}
    return ScoredUnit(shape, 10.0 - at, False, values)


FLOOD = [unit(at, f"Provider{at}.Provide") for at in range(6)]
WATCHER = unit(7, "Watcher.applyConfigurations")


def piece(at):
    """Return a unit without a definition, as configuration is one."""
    scored = unit(at, "")
    del scored.unit["kind"]
    return scored


def mapped(units, question):
    return [scored.unit["symbol"] for scored in choose_mapped(units, question, with_tests=False)[0]]


def test_functions_of_one_name_leave_places_for_others():
    names = mapped([*FLOOD, WATCHER], "what happens after a new configuration is sent")
    assert names == [*(f"Provider{at}.Provide" for at in range(SAME_NAME_MAX)), "Watcher.applyConfigurations"]


@pytest.mark.parametrize(
    "question", ["which types provide configuration", "where is Provide", "Provider4.Provide"]
)
def test_functions_of_a_name_in_the_question_are_all_in_the_map(question):
    assert len(mapped([*FLOOD, WATCHER], question)) == 7


def test_a_function_that_the_question_names_otherwise_stays():
    named = unit(6, "Provider6.Provide", named=0.5)
    assert "Provider6.Provide" in mapped([*FLOOD, named], "what happens after a new configuration")


def test_units_without_a_name_are_no_namesakes():
    pieces = [unit(at, "", kind="lines") for at in range(6)]
    assert len(mapped(pieces, "what happens")) == 6


def test_a_section_does_not_crowd_out_a_style():
    sections = [unit(at, f"Section {at}", kind="section") for at in range(2)]
    style, code = piece(2), [unit(at, f"f{at}") for at in range(3, 8)]
    assert mapped([*sections, style, *code], "colours") == ["Section 0", "", "f3", "f4", "f5", "f6", "f7"]
    assert mapped([*code[:3], piece(6)], "colours") == ["f3", "f4", "f5"]


def test_a_change_log_gives_way_to_configuration_and_documents():
    record, page = unit(0, "Changes", kind="section"), unit(1, "Limits", kind="section")
    record.unit["path"], page.unit["path"] = "CHANGELOG.md", "docs/limits.md"
    code = unit(2, "limit")
    assert mapped([record, page, code], "how are limits set") == ["Limits", "limit"]
    assert mapped([record, page, code], "in which version did limits come") == ["Changes", "limit"]
