"""cortex_exact for an agent: each matching line with its code or its number, literal ones first."""

import asyncio
import dataclasses
import re

import orjson
import pytest

from cortex.front.text import render
from cortex.front.tools import TOOLS

USER = """from core import open_disk

def keep(disk_path):
    reopen_disk(disk_path)
    return open_disk(disk_path)
"""
FILES = {
    "core.py": "def open_disk(path):\n    return Disk(path)\n\n\ndef open_disk_slowly(path):\n    pass\n",
    "again.py": "def reopen_disk(path):\n    return path\n\n\n# opens: open disk, then reads\n",
    **{f"user_{at}.py": USER for at in range(12)},
    "tests/test_disk.py": "".join(f"def test_{at}():\n    assert open_disk({at})\n" for at in range(30)),
    "dist/core.js": "".join(f"let x{at} = open_disk({at});\n" for at in range(20)),
    "odd.py": '_mark = 1\nmark = 2\nprint(_mark, "no disk is open", OPEN_DISK)\n',
}


@pytest.fixture(scope="module")
def disks(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("disks")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    return serve(root)


def ask(served, query, audience="agent", **more):
    context = dataclasses.replace(served.context(), audience=audience)
    tool = TOOLS["cortex_exact"]
    answer = asyncio.run(tool.call(context, tool.check({"query": query} | more)))
    return orjson.loads(orjson.dumps(answer))


def code_of(answer):
    """(path, number) of the lines with code, in order."""
    return [
        (result["chunk"]["metadata"]["file_path"], int(line.partition(":")[0]))
        for result in answer["results"]
        for line in result["chunk"]["text"].split("\n")
    ]


def named(answer):
    """(path, number) of the lines that have only a number."""
    return [(row["file"], number) for row in answer.get("places", ()) for number in row["lines"]]


def grep(word, flags=re.IGNORECASE):
    return {
        (path, at)
        for path, text in FILES.items()
        for at, line in enumerate(text.splitlines(), 1)
        if re.search(word, line, flags)
    }


@pytest.mark.parametrize("query", ["open_disk", "reopen_disk", "disk_path", "OPEN_DISK"])
@pytest.mark.parametrize("tokens", [None, 400])
def test_each_line_has_its_code_or_its_number_once(disks, query, tokens):
    answer = ask(disks, query, **({} if tokens is None else {"max_tokens": tokens}))
    lines = [*code_of(answer), *named(answer)]
    assert len(lines) == len(set(lines))
    left = answer.get("omitted", {}).get("places", 0)
    assert set(lines) <= grep(query)
    inside = answer.get("omitted", {}).get("inside words", 0)
    assert len(lines) + left + inside == len(grep(query))
    assert left == 0 or tokens is not None
    assert "like it" not in render("cortex_exact", answer)


def test_the_pages_of_an_answer_show_every_line(disks):
    seen, offset = [], 0
    for _ in range(40):
        answer = ask(disks, "open_disk", offset=offset, max_tokens=150)
        seen += code_of(answer)
        if "next_offset" not in answer:
            break
        assert answer["next_offset"] > offset
        offset = answer["next_offset"]
    assert len(seen) == len(set(seen))
    assert grep(r"(?<!re)open_disk") <= {*seen, *named(answer)}


def test_an_answer_keeps_to_its_budget(disks):
    for tokens in (100, 200, 600):
        text = render("cortex_exact", ask(disks, "open_disk", max_tokens=tokens))
        assert len(text) <= 4 * tokens + 300


def test_whole_names_stand_before_parts_of_names(disks):
    lines = code_of(ask(disks, "open_disk", max_tokens=4000))
    exact = [place in grep(r"\bopen_disk\b") for place in lines]
    assert exact == sorted(exact, reverse=True)
    assert not all(exact)


def test_the_words_side_by_side_stand_before_the_words_apart(disks):
    places = code_of(ask(disks, "return open_disk", max_tokens=4000))
    literal = [place in grep("return open_disk") for place in places]
    assert literal[0]
    assert literal == sorted(literal, reverse=True)


def test_lines_in_other_words_are_counted_and_follow_at_the_offset(disks):
    answer = ask(disks, "open_disk", max_tokens=4000)
    others = answer["omitted"]["other words"]
    assert others >= 1
    assert f"{others} more hold it in other words: `offset` {answer['next_offset']}" in render(
        "cortex_exact", answer
    )
    following = ask(disks, "open_disk", offset=answer["next_offset"])
    assert len(code_of(following)) == others
    assert ("again.py", 5) in code_of(following)
    assert "next_offset" not in following


def test_copies_in_built_files_have_only_numbers(disks):
    answer = ask(disks, "open_disk", max_tokens=4000)
    assert {path for path, _ in code_of(answer)}.isdisjoint({"dist/core.js"})
    assert [number for path, number in named(answer) if path == "dist/core.js"] == list(range(1, 21))


def test_a_name_with_signs_has_no_other_words(disks):
    assert code_of(ask(disks, "_mark")) == [("odd.py", 1), ("odd.py", 3)]


def test_a_limit_counts_the_lines_with_code(disks):
    answer = ask(disks, "open_disk", limit=3)
    assert len(code_of(answer)) == 3
    assert not named(answer)
    assert answer["next_offset"] == 3


def test_an_answer_for_a_program_has_no_numbers_of_further_lines(disks):
    answer = ask(disks, "open_disk", audience="program")
    assert {"places", "next_offset"}.isdisjoint(answer)
    assert answer["omitted"].keys() <= {"alike", "same file", "a part"}


def test_lines_with_the_word_inside_longer_words_are_counted(disks):
    text = render("cortex_exact", ask(disks, "open_disk"))
    assert "13 more hold it inside longer words: `match_type` substring shows them." in text
    lines = code_of(ask(disks, "open_disk", match_type="substring", limit=100, max_tokens=8000))
    assert grep("reopen_disk") <= set(lines)


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("BIG_FLAG", None),
        ("BIG_FLAG, [0-9]", "regex"),
        ("IG_FLA", "substring"),
        ("BIG_FLAK~1", None),
        ("BIG_FLAG OR nothing_else", None),
        (r"BIG_FLAG,\s[0-9]", "regex"),
    ],
)
def test_every_line_of_a_long_table_is_counted(tmp_path, serve, query, kind):
    rows = "".join(f'    ("row {at}", BIG_FLAG, {at}),\n' for at in range(90))
    (tmp_path / "table.py").write_text(f"ROWS = [\n{rows}]\n")
    arguments = {"match_type": kind} if kind else {}
    answer = ask(serve(tmp_path), query, limit=200, **arguments)
    assert sorted(code_of(answer) + named(answer)) == [("table.py", at + 2) for at in range(90)]
    assert answer["total_found"] == 90


@pytest.fixture(scope="module")
def translated(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("translated")
    (root / "locales").mkdir()
    languages = ["ar", "de", "en", "fr", "it", "nl", "pl"]
    for name in languages:
        text = f'{{\n  "other": 1,\n  "openDialog": "{name} open",\n  "save": "{name}"\n}}\n'
        (root / "locales" / f"{name}.json").write_text(text)
        folder = root / "i18n" / name
        folder.mkdir(parents=True)
        (folder / "common.yml").write_text(f"save_all: {name}\n")
    (root / "settings.json").write_text('{"openDialog": true}\n')
    (root / "app.ts").write_text('export const key = "openDialog";\n')
    return serve(root)


@pytest.mark.parametrize(
    ("query", "line", "names"),
    [
        ("openDialog", "locales/en.json:3", "locales/{ar,de,fr,it,nl,pl}.json"),
        ("save_all", "i18n/en/common.yml:1", "i18n/{ar,de,fr,it,nl,pl}/common.yml"),
    ],
)
def test_a_key_of_many_translations_is_one_line(translated, query, line, names):
    answer = ask(translated, query)
    text = render("cortex_exact", answer)
    assert f"{line}: " in text
    assert f"⋯ and in 6 files like it: {names}" in text
    assert text.count(query) == {"openDialog": 3, "save_all": 1}[query]
    assert f"{answer['total_found']} in all" in text
    assert answer["total_found"] == answer["total_returned"] == {"openDialog": 9, "save_all": 7}[query]


def test_translations_are_listed_where_paths_select_them(translated):
    assert len(code_of(ask(translated, "openDialog", paths=["locales/**"]))) == 7
