"""Plain words: refused names, shares of vague ones, free relatives, lengths of pages.

Each failure lists the worst twenty places; `scripts/words.py` counts by room, `--names` lists all.
"""

import importlib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: shares of all bindings: of vague names, and of generic ones
COUNTED_MAX, GENERIC_MAX = 0.005, 0.07
#: free relatives (the words of `words.RELATIVES`) in 1 000 words
RELATIVES_MAX = 4.0
#: pages that tests or programs compare with the code: their length follows from their lists
REFERENCE = frozenset("CHUNKS CONFIG HTTP LANGUAGES PROTOCOL REQUIREMENTS SEGMENT TOOLS".split())
README_LINES_MAX, README_WORDS_MAX = 150, 1800
ARCHITECTURE_WORDS_MAX, ARCHITECTURE_COLUMNS_MAX = 2500, 400
OTHER_PAGES_WORDS_MAX = 22_000
WORST = 20

PAGES = sorted(path.relative_to(ROOT) for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")))


@pytest.fixture(scope="module")
def words():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
        yield importlib.import_module("words")


@pytest.fixture(scope="module")
def bindings(words):
    return [binding for path in words.sources() for binding in words.bindings(path)]


def of_category(words, bindings, category):
    return [binding for binding in bindings if binding.word in words.categories()[category]]


def worst(places):
    """Return a sentence a line for the assertion message."""
    return "\n".join(f"{place}: {count}" for place, count in Counter(places).most_common(WORST))


def test_no_name_is_a_refused_word(words, bindings):
    frozen = words.frozen_names()
    refused = [
        f"{binding.path}:{binding.line} {binding.name}"
        for binding in of_category(words, bindings, "refused")
        if (binding.path, binding.name) not in frozen
    ]
    assert not refused, f"{len(refused)} refused names:\n{worst(refused)}"


def test_every_frozen_name_is_there_and_says_why_it_stays(words, bindings):
    frozen = words.frozen_names()
    assert all(frozen.values())
    assert not frozen.keys() - {(binding.path, binding.name) for binding in bindings}


@pytest.mark.parametrize(("category", "share"), [("counted", COUNTED_MAX), ("generic", GENERIC_MAX)])
def test_vague_names_are_few(words, bindings, category, share):
    vague = of_category(words, bindings, category)
    allowed = share * len(bindings)
    assert len(vague) <= allowed, f"{len(vague)} of at most {allowed:.0f}:\n{worst(b.path for b in vague)}"


@pytest.mark.parametrize("prose", ["docstrings", "comments"])
def test_docstrings_and_comments_use_nouns_in_place_of_free_relatives(words, prose):
    rooms = {}
    for path in words.sources():
        room = words.room_of(path)
        rooms[room] = rooms.get(room, words.Words()) + getattr(words, prose)(path)
    over = {
        room: round(count.per_thousand, 1)
        for room, count in rooms.items()
        if count.per_thousand > RELATIVES_MAX
    }
    assert not over, f"what, who, whose, whom in 1 000 words of {prose}:\n{worst(over)}"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_uses_nouns_in_place_of_free_relatives(words, page):
    count = words.count_words((ROOT / page).read_text(encoding="utf-8"))
    assert count.per_thousand <= RELATIVES_MAX, f"{count.relatives} in {count.total} words"


def length(page):
    return len((ROOT / page).read_text(encoding="utf-8").split())


def test_the_readme_is_read_in_ten_minutes():
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") <= README_LINES_MAX
    assert length("README.md") <= README_WORDS_MAX


def test_the_architecture_page_is_short_and_has_no_long_line():
    lines = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= ARCHITECTURE_COLUMNS_MAX
    assert length("docs/ARCHITECTURE.md") <= ARCHITECTURE_WORDS_MAX


def test_all_pages_but_reference_pages_are_read_in_two_hours():
    """The changelog is a record, not a page to read."""
    others = [page for page in PAGES if page.stem not in REFERENCE | {"README", "CHANGELOG"}]
    total = sum(map(length, others))
    assert total <= OTHER_PAGES_WORDS_MAX, worst({str(page): length(page) for page in others})


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "docs"], ids=str)
def test_a_document_says_first_for_whom_it_is(page):
    head = " ".join((ROOT / page).read_text(encoding="utf-8").split("\n")[:6]).lower()
    assert any(reader in head for reader in ("user", "operator", "contributor"))
