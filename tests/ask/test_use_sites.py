"""However few bytes an answer has, each site is in it: with code, as a place, or in a number."""

import pytest

from cortex.ask.use_sites import Site, Uses, render

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


@pytest.mark.parametrize("count", [0, 1, 5, 40, 250])
@pytest.mark.parametrize("max_bytes", [300, 1_000, 2_400, 4_800, 9_000, 100_000])
def test_no_site_is_dropped_without_a_number(count, max_bytes):
    block = render(Uses(sites=SITES[:count]), 0, max_bytes)
    coded, alone, counted = counts_of(block)
    assert block["total"] == count == coded + alone + counted
    assert ("next_offset" in block) == (coded < count)
    if max_bytes == 100_000:
        assert (alone, counted) == (0, 0)
    assert coded or not count


@pytest.mark.parametrize("max_bytes", [300, 1_000, 4_800])
def test_pages_show_the_code_of_each_site_once(max_bytes):
    offset, lines = 0, []
    while True:
        block = render(Uses(sites=SITES), offset, max_bytes)
        lines += [
            (file["file"], row["line"]) for file in block["files"] for row in file["sites"] if "text" in row
        ]
        offset = block.get("next_offset", 0)
        if not offset:
            break
    assert lines == [site.place for site in SITES]


def test_an_answer_keeps_within_its_bytes():
    for max_bytes in (1_000, 2_400, 4_800):
        block = render(Uses(sites=SITES), 0, max_bytes)
        used = sum(
            len(f"{file['file']}:{row['line']}  {row.get('name', '')}: {row['text']}")
            for file in block["files"]
            for row in file["sites"]
            if "text" in row
        )
        used += sum(6 for file in block["files"] for row in file["sites"] if "text" not in row)
        used += sum(len(entry.get("file", "")) + 10 for entry in block.get("counts", ()))
        assert used <= 1.3 * max_bytes


def test_the_first_unresolved_uses_have_their_lines_and_the_others_places():
    places = [(f"src/{n}.py", n) for n in range(8)]
    unresolved = {"name": "call", "total": 12, "places": places}
    shown = [Site(file, line, "", f"x.call({line})") for file, line in places[:5]]
    block = render(Uses(unresolved=unresolved, unresolved_shown=shown), 0, 4_800)["unresolved"]
    assert [place["line"] for place in block["places"]] == [0, 1, 2, 3, 4]
    assert block["files"] == [{"file": f"src/{n}.py", "lines": [n]} for n in (5, 6, 7)]
    assert block["total"] == 12
