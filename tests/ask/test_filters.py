"""The filters of cortex_search: no way to find code leads around them."""

from __future__ import annotations

import pytest

from ipc.messages import Filters
from tests.ask.searched import ask, write

FILES = {
    "shop/parcels.py": '''"""Parcels."""


class ParcelBox:
    def seal_parcel(self, tape):
        """Seal a parcel with tape."""
        if not tape:
            raise ValueError("no tape is left for this parcel")
        return tape


def send_parcel(box):
    return box.seal_parcel("tape")
''',
    "shop/old/parcels_old.py": "def seal_parcel(parcel, tape):\n    return parcel, tape\n",
    "tests/test_parcels.py": """def test_a_parcel_is_sealed():
    assert seal_parcel(1, 2) == "no tape is left for this parcel"


def test_a_parcel_with_tape():
    assert send_parcel(1)
""",
    "docs/parcels.md": "# Parcels\n\nHow a parcel is sealed with tape by `seal_parcel`.\n\n## Tape\n\nTape of a parcel.\n",
    "src/parcels.rs": """pub fn weigh_parcel(parcel: u32) -> u32 {
    parcel + 1
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_parcel_has_weight() {
        assert_eq!(super::weigh_parcel(1), 2);
    }
}
""",
}  # fmt: skip

#: way to find code → a question that goes it
QUESTIONS = {
    "words": "seal a parcel with tape",
    "name": "how does seal_parcel work on a parcel",
    "owner": "ParcelBox.seal_parcel of a parcel",
    "line": "parcel at shop/parcels.py:6 and tests/test_parcels.py:2",
    "trace": 'Traceback (most recent call last):\n  File "shop/parcels.py", line 8, in seal_parcel\nValueError: no parcel\n',
    "message": "no tape is left for this parcel",
    "users": "who calls seal_parcel with a parcel",
    "users of a strange name": "who uses `super`, of a parcel",
    "tests": "which tests seal a parcel with seal_parcel",
    "documents": "documentation on seal_parcel of a parcel",
}
#: filters → the beginnings of the places that pass them
FILTERS = {
    "paths": (Filters(paths=("shop/old/**",)), ("shop/old/",)),
    "one path": (Filters(paths=("src/parcels.rs",)), ("src/parcels.rs",)),
    "exclude_paths": (Filters(exclude_paths=("shop/*.py", "tests/")), ("shop/old/", "src/", "docs/")),
    "tag of tests": (Filters(tags=("test",)), ("tests/", "src/parcels.rs:5", "src/parcels.rs:6", "src/parcels.rs:7")),
    "tag of a language": (Filters(tags=("rust",)), ("src/",)),
    "tag of documents": (Filters(tags=("documentation",)), ("docs/",)),
    "two filters": (Filters(tags=("python",), exclude_paths=("shop/parcels.py",)), ("shop/old/", "tests/")),
}  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("filters")
    write(root, FILES)
    return serve(root)


def places(answer) -> list[str]:
    """Return the places of an answer: `file:line`."""
    rows = [row for part in ("map", "tests", "code") for row in answer.get(part, ())]
    sites = [
        f"{file['file']}:{site['line']}"
        for block in answer.get("sites", ())
        for file in block["files"]
        for site in file["sites"]
    ]
    return [f"{row['file']}:{row['start']}" for row in rows] + sites


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("way", QUESTIONS)
def test_no_way_leads_around_a_filter(shop, way, filters):
    selection, beginnings = FILTERS[filters]
    assert [
        place
        for place in places(ask(shop, QUESTIONS[way], filters=selection))
        if not place.startswith(beginnings)
    ] == []


@pytest.mark.parametrize("way", QUESTIONS)
def test_a_filter_that_excludes_nothing_leaves_the_places(shop, way):
    everything = ask(shop, QUESTIONS[way], filters=Filters(exclude_paths=("nowhere/",)))
    assert places(everything)
    if "users" not in way:  # these are answered with uses, which have no filters
        assert places(everything) == places(ask(shop, QUESTIONS[way], filters=Filters()))


def test_a_named_definition_that_passes_the_filters_comes_first(shop):
    answer = ask(shop, QUESTIONS["name"], filters=Filters(paths=("shop/*.py",)))
    assert answer["map"][0]["name"] == "ParcelBox.seal_parcel"


def test_an_answer_that_the_filters_leave_empty_says_so(shop):
    answer = ask(shop, QUESTIONS["name"], filters=Filters(paths=("nowhere/**",)))
    assert answer["map"] == []
    assert "with these filters" in answer["suggestion"]
