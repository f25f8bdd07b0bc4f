"""Messages in a question: the lines of code that hold them word for word."""

from __future__ import annotations

import asyncio

import pytest

from cortex.ask.exploring.unit_answer import answer_with_code
from cortex.ask.questions import Search
from cortex.front.text import render
from cortex.ranking import literal_texts
from tests.ask.searched import ask, write

MESSAGE = "Inconsistent dependency lock file"
#: functions with the words of the message in their names, and none of it as a text
LOCKS = "\n\n".join(
    f"def {verb}_dependency_lock_file(dependency, lock, file):\n    return {verb}(dependency, lock, file)"
    for verb in ("open", "save", "check", "merge", "read", "write", "find", "close")
)
FILES = {
    "shop/locks.py": f'"""Dependency lock files, consistent or inconsistent."""\n\n{LOCKS}\n',
    "shop/plan.py": f"""def start(plan):
    # an inconsistent dependency lock file ends here
    if plan.old:
        raise ValueError("{MESSAGE}")
    return plan


def resume(plan):
    if plan.new:
        print("Cannot find package %s in the registry of this host" % plan.name)
    return plan
""",
    "shop/texts.json": '{"stale": "The cache of the depot is older than a day"}\n',
    "shop/options.py": """def add_options(parser):
    # --keep-parcels is above all
    parser.add_argument('--keep', '--keep-parcels', help='the parcels that are kept')
    parser.add_argument('--keep-parcels-cold', action='cold')


def keep_parcels(parcels, keep):
    return parcels if keep else None


def connect(app):
    app.connect('parcel-sent', send)
    app.connect(b"parcel-sent-on", send)


def send_parcel(event, parcel):
    return parcel.sent(event, 'a parcel-sent note')
""",
    "tests/test_options.py": "def test_keep():\n    assert run('--keep-parcels')\n",
    "tests/test_plan.py": """def test_an_inconsistent_dependency_is_refused():
    assert start(1) == "the plan of a stale dependency is refused"
""",
    "tests/test_raised.py": f'def test_message():\n    assert raised() == "{MESSAGE}"\n',
    "tests/test_opened.py": 'def test_it():\n    assert told() == "the dependency lock file is open"\n',
    "CHANGELOG.md": f"# Changes\n\n* {MESSAGE}: no longer raised twice\n* Parcels of the depot are weighed twice\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("literals")
    write(root, FILES)
    return serve(root)


def places(answer) -> list[tuple[str, int]]:
    return [
        (file["file"], site["line"])
        for block in answer.get("sites", ())
        for file in block["files"]
        for site in file["sites"]
    ]


@pytest.mark.parametrize(
    "query",
    [
        MESSAGE,
        f"Error: {MESSAGE}",
        f"ValueError: {MESSAGE}",
        f'why do I get "{MESSAGE}" in CI?',
        f'Traceback (most recent call last):\n  File "x.py", line 3, in y\nValueError: {MESSAGE}\n',
    ],
)
def test_the_function_with_a_message_comes_first_and_its_line_is_listed(shop, query):
    answer = ask(shop, query)
    assert answer["map"][0]["name"] == "start"
    assert places(answer)[0] == ("shop/plan.py", 4)
    assert "lines with this text: 2" in render("cortex_search", answer)


def test_a_message_with_a_value_in_it_is_found_by_the_rest(shop):
    answer = ask(shop, "Cannot find package left-pad in the registry of this host")
    assert answer["map"][0]["name"] == "resume"
    assert places(answer) == [("shop/plan.py", 10)]
    assert "lines with most of this text: 1" in render("cortex_search", answer)


def test_of_a_message_in_code_and_in_its_test_the_code_comes_first(shop):
    answer = ask(shop, MESSAGE.upper())
    assert answer["map"][0]["file"] == "shop/plan.py"
    assert places(answer) == [("shop/plan.py", 4), ("tests/test_raised.py", 2)]


def test_lines_that_do_not_fit_are_counted_without_an_offset_that_a_search_has_not(shop):
    answer = asyncio.run(answer_with_code(shop.context(), Search(MESSAGE, max_tokens=60)))
    assert "lines with this text: 2" in (text := render("cortex_search", answer))
    assert "offset" not in text


def test_a_text_that_tests_alone_hold_is_listed_below_the_code(shop):
    answer = ask(shop, "the dependency lock file is open")
    assert places(answer) == [("tests/test_opened.py", 2)]
    assert answer["map"][0]["name"] == "open_dependency_lock_file"


def test_a_message_in_a_table_of_texts_is_found(shop):
    assert places(ask(shop, "the cache of the depot is older than a day")) == [("shop/texts.json", 1)]


@pytest.mark.parametrize(
    "query",
    [
        "how is a dependency lock file opened",
        "parcels of the depot are weighed twice",  # in a list of changes alone
        "the plan of a stale dependency is checked",  # most of it in a test alone
        "start resume",
    ],
)
def test_other_questions_have_no_such_lines(shop, query):
    assert places(ask(shop, query)) == []


@pytest.mark.parametrize(
    ("query", "name", "lines"),
    [
        ("where is the option --keep-parcels defined, that keeps parcels", "add_options", [3]),
        ("what does `--keep-parcels` keep of parcels", "add_options", [3]),
        ("which parcels does --keep keep", "add_options", [3]),
        ("who handles the event parcel-sent of a parcel", "connect", [12]),
        ("who handles the event 'parcel-sent-on' of a parcel", "connect", [13]),
    ],
)
def test_an_option_or_a_name_with_hyphens_has_its_literal_first(shop, query, name, lines):
    answer = ask(shop, query)
    assert answer["map"][0]["name"] == name
    assert [line for file, line in places(answer) if file == "shop/options.py"] == lines


def test_words_with_hyphens_of_a_pasted_text_are_no_names(shop):
    assert places(ask(shop, "a parcel-sent note of words " * 5)) == []


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Error: no such file", ["no such file"]),
        ("fatal: bad object HEAD", ["bad object HEAD"]),
        ('who prints "no such file" here?', ["no such file", 'who prints "no such file" here?']),
        ("it fails\nValueError: bad value in row", ["bad value in row"]),
        ("one two three " * 9, []),
        ("sort by kind", []),  # a subject
        ("", []),
    ],
)
def test_the_texts_of_a_question(question, texts):
    assert literal_texts(question) == texts
