"""Questions for documents: their sections come first."""

from __future__ import annotations

import time

import pytest

from cortex.terms.paths import asks_for_documents_alone
from tests.ask.searched import ask, write

#: tests with the words of a section outnumber sections
TESTS = "\n\n".join(
    f"def test_crates_and_parcels_{at}():\n    assert pack_crate({at}) == pack_parcel({at})"
    for at in range(40)
)
FILES = {
    "shop/crates.py": "".join(
        f"def {verb}_crate(crates, parcels):\n    return {verb}(crates, parcels)\n\n\n"
        for verb in ("pack", "seal", "send", "weigh", "store", "sort")
    ),
    "tests/test_crates.py": f"{TESTS}\n",
    "docs/guide/packing.md": "# Packing\n\nHow goods leave.\n\n## Crates\n\nA crate holds parcels; `pack_crate` packs it.\n",
    "docs/history/changes.md": "# Changes\n\n## Older\n\n* crates are gone\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("documents")
    write(root, FILES)
    return serve(root)


@pytest.mark.parametrize(
    "query",
    [
        "documentation on crates and parcels",
        "where is pack_crate documented",
        "guide to crates with parcels",
        "which document describes crates and parcels",
        "what does the documentation say about crates of parcels",
    ],
)
def test_sections_come_first_and_are_shown_if_documents_are_asked_for(shop, query):
    answer = ask(shop, query)
    assert (answer["map"][0]["file"], answer["map"][0]["name"]) == ("docs/guide/packing.md", "Crates")
    assert answer["code"][0]["name"] == "Crates"
    files = [line["file"].startswith("docs/") for line in answer["map"]]
    assert files == sorted(files, reverse=True)


def test_code_comes_first_in_other_questions(shop):
    answer = ask(shop, "how is a crate packed with parcels")
    assert answer["map"][0]["file"] == "shop/crates.py"
    assert answer["code"][0]["file"] == "shop/crates.py"


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("documentation for writing a builder", True),
        ("docs about routes", True),
        ("The user guide for routing tasks?", True),
        ("where are the docs of the worker", True),
        ("where is the setting documented?", True),
        ("does the manual explain retries; what does the manual say", True),
        ("where is documentation for a module rendered", False),
        ("how is documentation for modules generated", False),
        ("how are exports documented in the output", False),
        ("add documentation for providers", False),
        ("docs: mend a link", False),
        ("document symbol handler", False),
        ("", False),
    ],
)
def test_whether_a_question_asks_for_documents_alone(question, alone):
    assert asks_for_documents_alone(question) is alone


@pytest.mark.parametrize("words", ["is ", "where is it documented ", "docs on ", "do the docs "])
def test_a_long_question_is_read_in_steady_time(words):
    started = time.process_time()
    asks_for_documents_alone(words * (48_000 // len(words)) + "x")
    assert time.process_time() - started < 1  # a hundredth; quadratic expressions took ten seconds
