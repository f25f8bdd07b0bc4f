"""Members, constants and types of C and C++: the lines of a member are those of its own type."""

import asyncio

import pytest

from cortex.ask.lines.code_words import find_constant
from cortex.ask.lines.declared_types import Functions, find_fields
from cortex.ask.reading.read import Read, read
from cortex.ask.references.uses import UsesQuestion, uses
from tests.ask.searched import write

FILES = {
    "shop.h": (
        "struct cell {\n  int flags;\n  struct cell *parent;\n};\n"
        "struct window {\n  int flags;\n  int (*run)(struct window *, int);\n  struct cell *root;\n};\n"
        "struct entry {\n  const char *name;\n  int flags;\n  int (*exec)(struct window *);\n};\n"
        "enum code { CODE_OK, CODE_ERROR = -1 };\n"
        "typedef struct cell cell_t;\n"
    ),
    "window.c": (
        '#include "shop.h"\n\n'
        "static int run_one(struct window *w)\n{\n"
        "  struct cell *c = w->root, *above;\n"
        "  above = c->parent;\n"
        "  if (above->flags)\n    return CODE_ERROR;\n"
        "  w->flags |= c->flags;\n"
        "  return w->root->flags;\n}\n\n"
        "const struct entry entry_one = {\n  .name = 0,\n  .flags = 1,\n  .exec = run_one\n};\n\n"
        "int run_all(const struct entry *e, struct window *c, cell_t *x)\n{\n"
        "  c->flags = e->flags + x->flags;\n"
        "  return e->exec(c) + c->run(c, 1);\n}\n"
    ),
    "src/Config.h": (
        "#pragma once\n\nclass Config\n{\npublic:\n    enum Key\n    {\n        Fast,\n        Slow,\n    };\n"
        "    Config();\n    int limit() const;\n\nprivate:\n    int m_limit;\n};\n"
    ),
    "src/Config.cpp": (
        '#include "Config.h"\n\nConfig::Config()\n    : m_limit(Config::Fast)\n{\n}\n\n'
        "int Config::limit() const\n{\n    return m_limit + Slow;\n}\n"
    ),
    "src/Panel.h": "#pragma once\n\nclass Panel\n{\npublic:\n    enum class Key { Slow };\n    int m_limit;\n};\n",
    "src/main.cpp": (
        '#include "Config.h"\n#include "Panel.h"\n\n'
        "int main()\n{\n    Panel panel;\n    auto config = new Config();\n"
        "    return panel.m_limit + Config::Slow + int(Panel::Key::Slow) + config->limit();\n}\n"
    ),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("members")
    write(root, FILES)
    return serve(root)


def ask(served, symbol):
    return asyncio.run(uses(served.context(), UsesQuestion(symbol)))


def sites(answer):
    """Return the sure lines by file."""
    files = [file for block in answer["sites"] for file in block["files"] if not file.get("unsure")]
    return {file["file"]: [site["line"] for site in file["sites"]] for file in files}


@pytest.mark.parametrize(
    ("symbol", "at", "expected"),
    [
        ("cell.flags", "shop.h:2", {"window.c": [7, 9, 10, 21]}),
        ("window.flags", "shop.h:6", {"window.c": [9, 21]}),
        ("entry.flags", "shop.h:12", {"window.c": [15, 21]}),
        ("entry.exec", "shop.h:13", {"window.c": [16, 22]}),
        ("window.run", "shop.h:7", {"window.c": [22]}),
        ("Config::m_limit", "src/Config.h:15", {"src/Config.cpp": [4, 10]}),
        ("Config::Slow", "src/Config.h:9", {"src/Config.cpp": [10], "src/main.cpp": [8]}),
        ("Config::Fast", "src/Config.h:8", {"src/Config.cpp": [4]}),
    ],
)
def test_a_member_has_the_lines_of_its_own_type(served, symbol, at, expected):
    answer = ask(served, symbol)
    assert (answer["sites"][0]["at"], answer["suggestion"]) == (at, "")
    assert sites(answer) == expected


def test_a_type_and_its_constructor_in_another_file_are_one_meaning(served):
    assert [block["of"] for block in ask(served, "Config")["sites"]] == ["Config"]
    assert [block["of"] for block in ask(served, "Config::Config")["sites"]] == ["Config.Config"]


def test_a_name_of_a_type_is_not_that_of_a_file(served):
    (block,) = ask(served, "window")["sites"]
    assert (block["of"], block["at"]) == ("window", "shop.h:5")
    (block,) = ask(served, "window.c")["sites"]
    assert block["at"] == "window.c:1"


def test_translations_of_qt_are_texts(tmp_path, serve):
    write(
        tmp_path,
        {
            "view.cpp": "class EntryView\n{\n};\n\nEntryView* make();\n",
            "view.ts": "let a: EntryView;\n",
            "po/app_de.ts": (
                '<?xml version="1.0" ?><!DOCTYPE TS><TS version="2.1" language="de">\n<context>\n'
                "    <name>EntryView</name>\n    <message>\n        <source>One\nEntryView</source>\n    </message>\n"
            ),
        },
    )
    answer = ask(serve(tmp_path), "EntryView")
    assert sites(answer) == {"view.cpp": [5]}
    assert [file["file"] for file in answer["elsewhere"]["files"]] == ["view.ts"]
    assert answer["elsewhere"]["texts"] == 2


@pytest.mark.parametrize(
    ("symbol", "file", "line"),
    [
        ("CODE_ERROR", "shop.h", 15),
        ("window.run", "shop.h", 7),
        ("cell.flags", "shop.h", 2),
        ("Config::Slow", "src/Config.h", 9),
        ("Panel::m_limit", "src/Panel.h", 7),
    ],
)
def test_a_member_or_constant_is_read_at_its_line(served, symbol, file, line):
    answer = asyncio.run(read(served.context(), Read((symbol,))))
    (item,) = answer["code"]
    assert (item["file"], item["start"], item["end"]) == (file, line, line)
    assert not answer.get("suggestion")


def test_a_method_is_read_in_its_body_whichever_file_comes_first(tmp_path, serve):
    write(
        tmp_path,
        {
            "include/Shop.h": "class Shop\n{\npublic:\n    int limit() const;\n};\n",
            "src/Shop.cpp": '#include "Shop.h"\n\nint Shop::limit() const\n{\n    return 1;\n}\n',
        },
    )
    served = serve(tmp_path)
    (block,) = ask(served, "Shop::limit")["sites"]
    assert block["at"] == "src/Shop.cpp:3"
    (item,) = asyncio.run(read(served.context(), Read(("Shop::limit",))))["code"]
    assert (item["file"], item["start"], item["end"]) == ("src/Shop.cpp", 3, 6)


def test_blanked_comments_and_rows_of_marks_take_no_time_of_their_own():
    blank = (" " * 60 + "\n") * 8_000
    assert find_fields(f"{blank}struct cell {{\n  int *flags;\n}};\n") == {"flags": frozenset({"int"})}
    code = "int run(void)\n{\n  return foo" + " " * 300 + "+ cell->flags;\n}\n"
    assert Functions(code, {"cell"}).find_declared("cell", code.index("cell")) is None
    marks = f"enum code {{\n  ONE,\n#{'#' * 60} ##\n  TWO\n}};\n"
    assert find_constant("a.h", marks, "TWO") == 4
    assert not find_constant("a.h", marks, "THREE")
