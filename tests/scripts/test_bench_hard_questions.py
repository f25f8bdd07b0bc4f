"""scripts/bench/hard_questions.py: its questions, and the counts of its table."""

import importlib
import random
import subprocess
from pathlib import Path

import pytest

from cortex.ranking import pasted_text as reading

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "scripts" / "bench"


@pytest.fixture
def hard(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module("hard_questions")


@pytest.fixture
def paths():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


def test_two_hundred_questions_are_asked_and_always_the_same(hard, paths):
    questions = hard.questions(paths)
    assert len(questions) == len({question.text for question in questions}) == 200
    assert questions == hard.questions(paths)


def test_every_question_wants_files_that_are_there(hard, paths):
    gone = {path for question in hard.questions(paths) for path in question.wanted} - set(paths)
    assert not gone


def test_a_trace_of_each_language_is_read_and_its_innermost_place_is_first(hard):
    place, outer = hard.pasted.Place("lib/shop/Cart.x", 12, "add"), hard.pasted.Place("lib/Main.x", 7, "go")
    for language, (ending, _) in hard.pasted.TRACES.items():
        inner = hard.pasted.Place(place.path.replace(".x", ending), place.line, place.name)
        other = hard.pasted.Place(outer.path.replace(".x", ending), outer.line, outer.name)
        understood = reading.read_question(hard.pasted.trace(language, inner, other))
        assert understood.places[0].path.endswith(f"Cart{ending}"), language
        assert understood.places[0].line == place.line, language


def test_an_issue_says_its_question_once_among_two_thousand_words(hard):
    text = hard.pasted.bury("cut a long file into chunks", random.Random(1))
    assert text.count("cut a long file") == 1
    assert 2000 <= len(text.split()) <= 2100


def test_every_second_long_word_is_mistyped(hard):
    question = "chunks of a notebook become embedded vectors"
    words = hard.pasted.mistype(question, random.Random(1)).split()
    wrong = [was for was, now in zip(question.split(), words, strict=True) if was != now]
    assert wrong == ["chunks", "become", "vectors"]


def test_ranks_are_of_files_and_one_found_counts_as_better_than_none(hard):
    hits = [hard.Hit("a.py", 1, 9), hard.Hit("a.py", 10, 19), hard.Hit("b.py", 1, 9)]
    assert (hard.rank(hits, ["b.py"]), hard.rank(hits, ["c.py"])) == (2, 0)
    question = hard.Question("word", "chunks", ("b.py",))
    rows = hard.by_kind([hard.Rank(question, *pair) for pair in ((2, 0), (0, 4), (1, 1), (0, 0), (3, 1))])
    assert rows["word"] == rows["all"]
    assert rows["all"] == {
        "questions": 5,
        "mrr": 0.367,
        "mrr_bm25": 0.45,
        "missed": 2,
        "missed_bm25": 2,
        "better": 1,
        "worse": 2,
    }


def test_comments_and_headings_of_files_without_code_ask_for_them_and_are_blank_there(hard):
    texts = {
        "Makefile": "# Generate headers before the C sources are compiled\nall: headers\n# same words in two files stand here\n",
        "conf/app.yml": "# how long idle clients are kept open\ntimeout: 3\n#key: value = 3\n# same words in two files stand here\n",
        "docs/guide.md": "# Writing a new back end\nsome text\n",
        "src/app.py": "# a comment in the middle of the code\n",
        "tests/test_app.py": "# close the server twice in a row\nclose()\n",
    }
    remarks = hard.remarks.choose(texts)
    assert {(remark.kind, remark.path, remark.line, remark.query) for remark in remarks} == {
        ("build", "Makefile", 1, "Generate headers before the C sources are compiled"),
        ("configuration", "conf/app.yml", 1, "how long idle clients are kept open"),
        ("documents", "docs/guide.md", 1, "Writing a new back end"),
        ("tests", "tests/test_app.py", 1, "close the server twice in a row"),
    }
    assert hard.remarks.blank_lines(texts["docs/guide.md"], [1]) == "\nsome text\n"


def test_another_repository_is_asked_without_its_remarks(hard, tmp_path):
    (tmp_path / "Makefile").write_text("# Generate headers before the C sources\nall: headers\n")
    with hard.copy_other_repository(tmp_path) as (project, questions):
        assert [(question.kind, question.wanted) for question in questions] == [
            ("build elsewhere", ("Makefile",))
        ]
        assert (project / "Makefile").read_text() == "\nall: headers\n"
