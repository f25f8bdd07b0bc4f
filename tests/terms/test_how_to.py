"""Questions about using a project."""

import pytest

from cortex.terms.paths import asks_how_to_use


@pytest.mark.parametrize(
    ("question", "is_use"),
    [
        ("how do I configure the repo server", True),
        ("how to enable sharding of the controller", True),
        ("what is the default of timeout.reconciliation", True),
        ("how does the controller enable sharding", False),
        ("how to parse a header", False),
        ("what is the default of the second argument", False),
    ],
)
def test_a_question_of_a_user_asks_for_settings_and_documents(question, is_use):
    assert asks_how_to_use(question) == is_use
