"""However few bytes an answer has, each site is in it: with code, as a place, or in a number."""

from dataclasses import replace

import pytest

from cortex.ask.references.use_sites import Site, Uses, render
from cortex.front.text import render as draw

SITES = [
    *(Site(f"src/part{n % 9}/file.py", n, f"Owner{n}.method", f"call_number({n})") for n in range(90)),
    *(
        Site(f"tests/test_part{n % 40}.py", n, f"test_{n}", f"call_number({n}, many, other, words)")
        for n in range(160)
    ),
]
SITES.sort(key=lambda site: site.order)


def counts_of(block):
    """Return (sites with code, places alone, sites that are only counted)."""
    rows = [row for file in block["files"] for row in file["sites"]]
    coded = sum("text" in row for row in rows)
    return coded, len(rows) - coded, sum(entry["count"] for entry in block.get("counts", ()))


def text_of(block):
    return draw("cortex_uses", {"sites": [{"of": "call_number"} | block]})


@pytest.mark.parametrize("count", [0, 1, 5, 40, 250])
@pytest.mark.parametrize("max_bytes", [300, 1_000, 2_400, 4_800, 9_000, 100_000])
def test_no_site_is_dropped_without_a_number(count, max_bytes):
    block = render(Uses(sites=SITES[:count]), 0, max_bytes)
    coded, alone, counted = counts_of(block)
    assert block["total"] == count == coded + alone + counted
    assert ("next_offset" in block) == (counted > 0)
    if max_bytes == 100_000:
        assert (coded, alone) == (min(count, 90), max(0, count - 90))
    assert coded + alone or not count


@pytest.mark.parametrize("max_bytes", [300, 1_000, 4_800])
def test_pages_list_each_site_once(max_bytes):
    offset, listed = 0, []
    while True:
        block = render(Uses(sites=SITES), offset, max_bytes)
        listed += [(file["file"], row["line"]) for file in block["files"] for row in file["sites"]]
        offset = block.get("next_offset", 0)
        if not offset:
            break
    assert listed == [site.place for site in SITES]


def test_a_file_has_its_places_without_code_on_one_line():
    places = [Site("tests/a.py", n, "", "go()", accessed=n % 2 == 0) for n in range(1, 21)]
    block = render(Uses(sites=sorted(places, key=lambda site: site.order), textual=True), 0, 9_000)
    assert text_of(block).count("tests/a.py") == 1
    assert [row["line"] for file in block["files"] for row in file["sites"]] == list(range(1, 21))


@pytest.mark.parametrize("count", [1, 3, 40, 90, 250])
@pytest.mark.parametrize("max_bytes", [1_000, 2_400, 4_800, 9_000])
def test_an_answer_keeps_within_its_bytes(count, max_bytes):
    usage = Uses(
        sites=[
            replace(site, overload=3 * (site.line % 2), unsure=site.line % 5 == 0) for site in SITES[:count]
        ],
        imports=[(f"src/part{n}/importing.py", n) for n in range(30)],
        further={(f"src/part{n % 9}/file.py", f"Further.name{n}"): None for n in range(200)},
        unresolved={"name": "call_number", "total": 90, "places": [(f"src/ü{n}.py", n) for n in range(90)]},
        unresolved_shown=[Site(f"src/ü{n}.py", n, "", "x.call_number(" + "ü" * 100) for n in range(5)],
    )
    head = {"of": "Owner.call_number", "at": "src/part0/file.py:7", "direction": "callers"}
    for offset in (0, count // 2):
        block = render(usage, offset, max_bytes, head)
        assert len(text_of(block).encode()) <= max_bytes


@pytest.mark.parametrize(("tests", "coded"), [(0, 4), (8, 12), (9, 4), (60, 4)])
def test_many_sites_in_tests_are_places_by_file(tests, coded):
    sites = [Site("src/a.py", n, "run", "call(1)") for n in range(4)]
    sites += [Site("tests/test_a.py", n, f"test_{n}", "call(2)") for n in range(tests)]
    block = render(Uses(sites=sites), 0, 4_800)
    assert counts_of(block) == (coded, 4 + tests - coded, 0)
    assert "next_offset" not in block
    assert "There are more" not in text_of(block)


def test_code_is_left_out_for_the_places_of_all_sites():
    block = render(Uses(sites=SITES[:90]), 0, 1_500)
    coded, alone, counted = counts_of(block)
    assert coded
    assert (coded + alone, counted) == (90, 0)
    assert "offset" not in text_of(block)


def test_sites_without_code_are_grouped_by_the_overload_that_they_use():
    sites = [Site("tests/test_a.py", n, "", "call()", overload=(0, 7, 9)[n % 3]) for n in range(9)]
    assert "tests/test_a.py: 0, 3, 6; 1, 4, 7 → 7; 2, 5, 8 → 9" in text_of(render(Uses(sites=sites), 0, 900))


def test_the_first_unresolved_uses_have_their_lines_and_the_others_places():
    places = [(f"src/{n}.py", n) for n in range(8)]
    unresolved = {"name": "call", "total": 12, "places": places}
    shown = [Site(file, line, "", f"x.call({line})") for file, line in places[:5]]
    block = render(Uses(unresolved=unresolved, unresolved_shown=shown), 0, 4_800)["unresolved"]
    assert [place["line"] for place in block["places"]] == [0, 1, 2, 3, 4]
    assert block["files"] == [{"file": f"src/{n}.py", "lines": [n]} for n in (5, 6, 7)]
    assert block["total"] == 12
