"""Subjects of commits as questions."""

import pytest

from cortex.ask.questions import subject_of


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("fix(editor): make embeddables ignore clicks", "editor make embeddables ignore clicks"),
        ("feat!: add a lock", "add a lock"), ("Fix cross-provider check", "cross-provider check"),
        ("Revert: drop the lock", "drop the lock"), ("docs: initialData prop", "docs: initialData prop"),
        ("test(api): retries", "test(api): retries"), ("Fix it", "Fix it"), ("fix:", "fix:"), ("fix: ", "fix: "),
        ("fix function of the linter", "fix function of the linter"), ("Fixed columns of the grid", "Fixed columns of the grid"),
    ],
)  # fmt: skip
def test_the_mark_of_a_commit_is_no_word_of_its_subject(question, subject):
    assert subject_of(question) == subject
