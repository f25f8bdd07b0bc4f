"""Ten sessions in three languages, with the noise of tools, and the candidates of each."""

from pathlib import Path

import pytest

from cortex.memory.transcripts.proposing.rules import remembered_sentences
from tests.sample_sessions import agent, user

FOLDER = Path(__file__).parent / "capture"
SESSIONS = sorted(path.stem for path in FOLDER.glob("*.txt"))
#: shares of the proposed sentences that are worth it, and of those worth it that are proposed
PRECISION, RECALL = 0.9, 0.9


def read_session(name):
    """The blocks [(mark, word after it, text)] of a session."""
    blocks = []
    for line in (FOLDER / f"{name}.txt").read_text().splitlines():
        if line.startswith("@"):
            mark, _, word = line[1:].partition(" ")
            blocks.append([mark, word, []])
        else:
            blocks[-1][2].append(line)
    return [(mark, word, "\n".join(lines)) for mark, word, lines in blocks]


def lines_of(blocks):
    """The lines of Claude Code's file for these blocks, a minute between two."""
    for at, (mark, word, text) in enumerate(block for block in blocks if block[0] != "keep"):
        moment = f"2026-03-01T10:{at:02}:00Z"
        if mark == "user":
            yield user(text, moment)
        elif mark == "agent":
            yield agent(text, moment)
        else:
            yield agent(f"I use {word}.", moment)
            yield user([{"type": "tool_result", "tool_use_id": f"t{at}", "content": text}], moment)


def expected_of(blocks):
    return {(word, text[0].upper() + text[1:]) for mark, word, text in blocks if mark == "keep"}


def captured(life, name):
    """The candidates of a session that is read from its file."""
    life.ask("stats")
    life.write(name, *lines_of(read_session(name)))
    life.read()
    return {(row["kind"], row["text"]) for row in life.ask("candidates")["candidates"]}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_gives_the_candidates_that_a_person_would_keep(life, name):
    expected = expected_of(read_session(name))
    assert captured(life, name) == expected
    briefing = life.ask("briefing")["briefing"]
    assert f"{len(expected)} candidate" in briefing
    assert not any(text in briefing for _, text in expected)


def test_of_ten_sessions_nine_in_ten_candidates_are_worth_it_and_few_are_missed():
    assert len(SESSIONS) == 10
    proposed, wanted = [], []
    for name in SESSIONS:
        blocks = read_session(name)
        wanted += [(name, *entry) for entry in expected_of(blocks)]
        for mark, _, text in blocks:
            pairs = remembered_sentences(text) if mark == "user" else ()
            proposed += [(name, kind, sentence[0].upper() + sentence[1:]) for kind, sentence in pairs]
    right = len(set(proposed) & set(wanted))
    assert right / len(proposed) >= PRECISION
    assert right / len(wanted) >= RECALL
