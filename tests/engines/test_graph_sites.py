"""Callers come with each of their places, and with the unresolved uses of the name."""

import pytest

from tests.engines.small_graph import ask, serve_files

FILES = {
    "store.py": (
        "class Store:\n    def save(self, item):\n        return item\n\n\n"
        "class Disk(Store):\n    def save(self, item):\n        return super().save(item)\n\n\n"
        "def step(n):\n    return step(n - 1) if n else 0\n"
    ),
    "run.py": (
        "from store import Disk, Store\n\n\n"
        "def one(disk: Disk):\n    disk.save(1)\n    disk.save(2), disk.save(3)\n\n\n"
        "def both(disk: Disk, store: Store):\n    disk.save(1)\n    store.save(2)\n\n\n"
        "def unknown(thing):\n    thing.save_it()\n    thing.step()\n    return thing.get('a')\n"
    ),
    "test_run.py": "def test(box):\n    box.inner.step()\n",
    "cache.py": "class Cache:\n    def get(self, key):\n        return key\n",
}


@pytest.fixture(scope="module")
def worker(new_config):
    return serve_files(new_config(), FILES)


def places(worker, target, **more):
    """Return caller → its places, in order."""
    _, results = ask(worker, "callers", target, **more)
    return {
        row["node"]["id"]: [row["location"]["line"], *(site["line"] for site in row.get("sites", ()))]
        for row in results
    }


def test_a_caller_is_one_row_with_each_of_its_places(worker):
    assert places(worker, "Disk.save")["run:one"] == [5, 6, 6]


def test_a_place_by_dispatch_is_beside_those_of_the_method_itself(worker):
    assert places(worker, "Disk.save")["run:both"] == [10, 11]
    _, results = ask(worker, "callers", "Disk.save")
    (site,) = next(row["sites"] for row in results if row["node"]["id"] == "run:both")
    assert (site["confidence"], site["text"].strip()) == ("dispatch", "store.save(2)")


def test_a_definition_is_its_own_caller_only_if_that_is_asked_for(worker):
    assert places(worker, "step") == {}
    assert places(worker, "step", recursive=True) == {"store:step": [12]}


def test_unresolved_uses_of_the_name_come_with_callers_tests_last(worker):
    hits, _ = ask(worker, "callers", "step")
    assert hits.unresolved["total"] == 2
    assert [(file, line) for file, line in hits.unresolved["places"]] == [
        ("run.py", 16),
        ("test_run.py", 2),
    ]


@pytest.mark.parametrize("operation", ["callers", "callees", "impact", "implementations"])
def test_a_bare_answer_has_the_same_results_and_no_more(worker, operation):
    hits, _ = ask(worker, operation, "Disk.save")
    bare, _ = ask(worker, operation, "Disk.save", bare=True)
    assert (bare.results, bare.total_found, bare.paths) == (hits.results, hits.total_found, hits.paths)
    assert (bare.suggestion, bare.unresolved) == ("", {})


def test_only_a_bare_answer_names_nothing_near_an_unknown_target(worker):
    assert ask(worker, "callers", "stp")[0].candidates
    bare, results = ask(worker, "callers", "stp", bare=True)
    assert (results, bare.candidates, bare.suggestion) == ([], (), "")


def test_of_a_name_that_libraries_have_only_the_number_is_known(worker):
    hits, _ = ask(worker, "callers", "Cache.get")
    assert hits.unresolved == {"name": "get", "total": 1, "places": []}


@pytest.mark.parametrize("operation", ["callees", "impact", "dependents"])
def test_other_operations_name_no_unresolved_uses(worker, operation):
    assert ask(worker, operation, "step")[0].unresolved == {}
