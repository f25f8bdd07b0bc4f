"""The set of questions without annotators, and the rule that judges a change of the ranking."""

import importlib
import subprocess
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"
PYTHON = '''\
import os


class Store:
    """Keeps tokens of users until they have expired for good. And more."""

    def refresh(self, token):
        # Give back a newer token for one that is about to end
        fresh = self.make()
        return fresh
'''


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module


@pytest.mark.parametrize(
    ("subject", "question"),
    [
        (
            "fix(pool): Close idle connections before the pool is full (#12)",
            "Close idle connections before the pool is full",
        ),
        ("GH-7: fixes #7 retry reads that time out once", "retry reads that time out once"),
        ("Bump the version to 2.0 for everyone", ""),
        ("Fix typo in a message", ""),
        ("Let parser.py read more than one file", ""),
        ("Fix leak", ""),
    ],
)
def test_a_subject_of_a_commit_is_asked_without_its_prefix_or_not_at_all(load, subject, question):
    assert load("commits").question_of(subject) == question


def test_commits_ask_for_one_or_two_changed_files_of_code_that_are_still_there(load):
    commits = load("commits")
    log = (
        "\x01a\x02Close idle connections before pool is full\n\nM\tsrc/pool.py\nM\ttests/test_pool.py\n"
        "\x01b\x02Open connections only when they are wanted\n\nM\tsrc/pool.py\nA\tsrc/new.py\n"
        "\x01c\x02Remember hosts that refused a connection\n\nM\tsrc/gone.py\n"
        "\x01d\x02Wait longer for servers that are slow\n\nM\tsrc/a.py\nM\tsrc/b.py\nM\tsrc/pool.py\n"
    )
    present = frozenset(f"src/{name}.py" for name in ("pool", "new", "a", "b"))
    questions = commits.commit_questions(commits.read_log(log), present)
    assert [(question.sha, question.files) for question in questions] == [("a", ("src/pool.py",))]


def test_no_file_and_no_repository_has_more_than_its_share_of_commits(load):
    commits = load("commits")
    files = [f"src/{number}.py" for number in range(30)]
    history = [
        commits.Commit(str(at), f"Change what number {at} does here", (("M", files[at // 5]),))
        for at in range(150)
    ]
    questions = commits.commit_questions(history, frozenset(files))
    assert len(questions) == commits.REPOSITORY_MAX
    assert max(sum(question.files == (path,) for question in questions) for path in files) == commits.FILE_MAX


def test_a_comment_asks_for_its_definition_and_its_lines_are_named(load):
    doc = load("doc_comments")
    questions = doc.described_definitions(*doc.outline_of("a.py", PYTHON.encode()))
    assert [(question.query, question.start, question.end, question.blank) for question in questions] == [
        ("Keeps tokens of users until they have expired for good", 4, 10, (5,)),
    ]
    commented = PYTHON.replace(
        "    def refresh", "    # Gives a newer token for one that ends\n    def refresh"
    )
    queries = [
        question.query for question in doc.described_definitions(*doc.outline_of("a.py", commented.encode()))
    ]
    assert "Gives a newer token for one that ends" in queries


def test_blank_lines_leave_every_other_line_at_its_number(load):
    doc = load("doc_comments")
    assert doc.blank_lines(b"a\n# b\n# c\nd\n", (2, 3)) == b"a\n\n\nd\n"


def test_a_sentence_that_another_file_has_too_is_not_asked(load):
    doc = load("doc_comments")
    question = doc.DescribedDefinition("Gives a newer token for one that ends", "a.py", 1, 3, (1,))
    assert doc.is_repeated(question, {"a.py": "", "all.py": "x # Gives a newer token for one that ends. y"})
    assert not doc.is_repeated(
        question, {"a.py": "# Gives a newer token for one that ends", "b.py": "tokens"}
    )


def test_the_first_sentence_loses_the_name_of_what_it_describes(load):
    doc = load("doc_comments")
    assert doc.first_sentence("Refresh gives a newer token for an old one. It waits.", "Refresh") == (
        "gives a newer token for an old one"
    )
    assert doc.first_sentence("TODO give a newer token for an old one", "refresh") == ""
    assert doc.first_sentence("Gives a token", "refresh") == ""


def git(folder, *words):
    names = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *names, *words], cwd=folder, check=True, capture_output=True)


def test_files_and_questions_are_made_of_a_repository_with_history(load, tmp_path):
    source, mirror = tmp_path / "work", tmp_path / "someone+shop"
    source.mkdir()
    git(source, "init", "-q", "-b", "main", "--separate-git-dir", mirror)
    (source / "store.py").write_text(PYTHON)
    git(source, "add", ".")
    git(source, "commit", "-qm", "Begin")
    (source / "store.py").write_text(PYTHON.replace("self.make()", "self.make(token)"))
    git(source, "commit", "-qam", "Make fresh tokens out of older ones")
    out = tmp_path / "out"
    (out / "annotations").mkdir(parents=True)
    assert load("second_set").make(mirror, "HEAD", out) == ("shop", 1, 1)
    lines = (out / "repos" / "shop" / "store.py").read_text().split("\n")
    assert lines[3:7] == ["class Store:", "", "", "    def refresh(self, token):"]
    questions = (out / "annotations" / "shop.json").read_text()
    assert "Make fresh tokens out of older ones" in questions
    assert '"start_line": 7' in questions


def rows(of, **gains):
    return [
        {"set": of, "repo": repo, "query": f"q{at}", "ndcg": 0.5 + gain}
        for repo, gain in gains.items()
        for at in range(2)
    ]


def verdict_of(load, before, after):
    paired = load("paired")
    sets = paired.differences(before, after)
    set_differences = [paired.difference_of(name, repositories) for name, repositories in sets.items()]
    return paired.verdict(paired.pooled(sets), set_differences)


def test_a_change_is_accepted_when_its_gain_is_sure_and_no_set_loses(load):
    before = rows("doc", a=0, b=0, c=0, d=0) + rows("commit", a=0, b=0, c=0, d=0)
    good = rows("doc", a=0.02, b=0.03, c=0.02, d=0.03)
    assert verdict_of(load, before, good + rows("commit", a=0, b=0.01, c=0, d=0)) == "accepted"
    lost = verdict_of(load, before, good + rows("commit", a=-0.01, b=-0.01, c=-0.02, d=-0.01))
    assert lost == "refused: commit lose more than 1 standard error"


def test_a_gain_that_one_repository_carries_counts_nothing(load):
    before = rows("doc", a=0, b=0, c=0, d=0)
    assert "not above" in verdict_of(load, before, rows("doc", a=0.2, b=0, c=0, d=0))
    after = rows("doc", a=0.021, b=0.02, c=0.0, d=0.025)
    assert (
        verdict_of(load, before, after) == "refused: without d the pooled gain is not above 2 standard errors"
    )


def test_questions_of_one_side_only_are_an_error(load):
    with pytest.raises(SystemExit, match="2 questions are only on one side"):
        load("paired").differences(rows("doc", a=0, b=0), rows("doc", a=0))


def test_a_front_of_a_benchmark_looks_where_the_index_was_made(load, monkeypatch):
    monkeypatch.setenv("CORTEX_HOME", "/somewhere/else")
    monkeypatch.setenv("SECRET", "none of a front's")
    environment = load("product").environment()
    assert environment["CORTEX_HOME"] == "/somewhere/else"
    assert "SECRET" not in environment
