"""Subjects of commits as questions: agents paste them."""

import re

#: what precedes the subject of a commit: `fix(editor): `, `feat!: `, `Fix `; documents and tests
#: are wanted where it names them
_SUBJECT = re.compile(
    r"\s*(?:(?i:fix|feat|feature|bug|chore|refactor|perf|style|revert)(?:\((?P<scope>[^()\n]{1,60})\))?!?:\s+"
    r"|Fix(?:es)?\s+(?=\S+\s+\S))"
)


def subject_of(question: str) -> str:
    """Return a question without the mark of a commit's kind, which would match names: "fix" those
    of `FixedSegment`. Its scope stays.
    """
    match = _SUBJECT.match(question)
    return (
        question if match is None else f"{match['scope'] or ''} {question[match.end() :]}".strip() or question
    )
