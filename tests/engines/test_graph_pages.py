"""Answers of several pages, and their remarks about the other pages."""

import pytest

from tests.engines.small_graph import ask, ids, serve_graph


def _called_by(config, count):
    nodes = [("a:hub", "function", "a.py"), *((f"b:f{n:03}", "function", "b.py") for n in range(count))]
    return serve_graph(config, nodes, [(f"b:f{n:03}", "a:hub", "calls") for n in range(count)])


def test_max_per_level_does_not_cut_a_single_level(config):
    worker = _called_by(config, 130)
    for operation in ("callers", "dependents", "impact"):
        hits, results = ask(worker, operation, "hub", max_results=130)
        assert (len(results), hits.total_found, hits.truncated) == (130, 130, False), operation
        assert (hits.next_offset, "offset" in hits.suggestion) == (0, False)


@pytest.mark.parametrize("operation", ["callers", "dependents", "impact"])
def test_pages_follow_each_other_and_say_where_the_next_begins(config, operation):
    worker = _called_by(config, 25)
    collected, offset, suggestions = [], 0, []
    while not collected or offset:
        hits, results = ask(worker, operation, "hub", max_results=10, offset=offset)
        assert hits.total_found == 25
        assert hits.truncated == (hits.next_offset > 0)
        collected += [row["node"]["id"] for row in results]
        offset = hits.next_offset
        suggestions.append(hits.suggestion)
    assert collected == [f"b:f{n:03}" for n in range(25)]
    assert suggestions[0] == "Shown: 1 to 10 of 25; offset 10 shows the next."
    assert suggestions[1] == "Shown: 11 to 20 of 25; offset 20 shows the next."
    assert suggestions[2] == ""


def test_an_offset_past_the_last_result_reports_the_total(config):
    hits, results = ask(_called_by(config, 3), "callers", "hub", offset=9)
    assert (results, hits.total_found, hits.next_offset) == ([], 3, 0)
    assert hits.suggestion == "There are 3 results; offset 9 is past the last."


def test_an_answer_states_how_many_results_a_level_left_out(worker):
    hits, _ = ask(worker, "callers", "check", depth=3, max_per_level=1)
    assert hits.suggestion.startswith("max_per_level left out ")


def test_a_path_is_paged_and_counted_completely(worker):
    hits, results = ask(worker, "path", "test_main:test_main", to="check", max_results=2)
    assert (len(results), hits.total_found, hits.truncated, hits.next_offset) == (2, 3, True, 2)
    second_page = ids(worker, "path", "test_main:test_main", to="check", max_results=2, offset=2)
    assert second_page == ["app/store:check"]


@pytest.mark.parametrize("operation", ["callers", "dependents", "impact"])
def test_a_page_counts_the_levels_behind_it_too(config, operation):
    nodes = [(f"a:f{n}", "function", "a.py") for n in range(9)]
    worker = serve_graph(config, nodes, [(f"a:f{n + 1}", f"a:f{n}", "calls") for n in range(8)])
    hits, results = ask(worker, operation, "f0", depth=5, max_results=2)
    assert (len(results), hits.total_found, hits.next_offset) == (2, 5, 2)
    assert "1 to 2 of 5" in hits.suggestion


def test_a_page_of_files_counts_the_levels_behind_it_too(config):
    nodes = [(f"f{n}", "module", f"f{n}.py") for n in range(5)]
    worker = serve_graph(config, nodes, [(f"f{n + 1}", f"f{n}", "imports", f"f{n + 1}.py") for n in range(4)])
    hits, results = ask(worker, "dependents", "f0.py", depth=3, max_results=1)
    assert (len(results), hits.total_found, hits.next_offset) == (1, 3, 1)
