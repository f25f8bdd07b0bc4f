"""The second part of the training of the embedding model of notes: questions and the notes that
answer them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from scripts.train.bert import Encoder, distance, encode, encode_all, tokens_of
from scripts.train.examples import LABELS, Group

#: groups of a step, questions of a group, sentences of a step that keep their vectors, and the
#: weight of that; the rate, steps until it is reached, and what cosines are divided by
GROUPS, OF_GROUP, SENTENCES, STAY, RATE, WARM, TEMPERATURE = 24, 2, 96, 2.0, 4e-4, 40, 0.05
#: by label: whether a note answers the questions of its group (IGNORED: some do, some do not)
IGNORED = -1.0
ANSWERS = (1.0, 0.0, 0.0, 1.0, IGNORED, IGNORED)


@dataclass(frozen=True)
class Sentences:
    """Sentences as tokens, the short ones first, and float32 [sentences, WIDTH], their vectors
    that are to stay.
    """

    rows: Sequence[list[int]]
    vectors: torch.Tensor

    def loss(self, student: Encoder, draw: random.Random) -> torch.Tensor:
        """Return how far some of them, of like length, are from their vectors."""
        first = draw.randrange(len(self.rows) - SENTENCES)
        rows, vectors = (part[first : first + SENTENCES] for part in (self.rows, self.vectors))
        return distance(encode(student, rows), vectors)


class Lessons:
    """The groups as tokens: questions beside the notes that answer them, and those that do not."""

    def __init__(self, groups: Sequence[Group], words: Sequence[str]) -> None:
        self.groups = [group for group in groups if group.questions]
        texts = sorted({text for group in self.groups for text in _texts(group)})
        self._rows = dict(zip(texts, tokens_of(texts, words), strict=True))

    def loss(self, student: Encoder, groups: Sequence[Group], draw: random.Random) -> torch.Tensor:
        """Return how far each question is from its notes, against the other notes of these
        groups.
        """
        notes = [text for group in groups for text in (group.older, *(note.text for note in group.newer))]
        queries, wanted = list[str](), list[torch.Tensor]()
        first = 0
        for group in groups:
            of_group = [LABELS.index("replaces"), *(LABELS.index(note.label) for note in group.newer)]
            answers = torch.zeros(len(notes))
            for at, label in enumerate(of_group):
                answers[first + at] = ANSWERS[label]
            for question in draw.sample(group.questions, min(OF_GROUP, len(group.questions))):
                queries.append(question)
                wanted.append(answers)
            if (answers == 1).sum() > 1:
                # a note is asked for by the older one as by a question: newer notes are found by it
                queries.append(group.older)
                wanted.append(answers.clone())
                wanted[-1][first] = IGNORED
            for at, note in enumerate(group.newer, 1):
                if note.question:
                    queries.append(note.question)
                    wanted.append(torch.zeros(len(notes)))
                    wanted[-1][first + at] = 1
            first += len(of_group)
        vectors = encode(student, [self._rows[text] for text in (*queries, *notes)])
        scores = vectors[: len(queries)] @ vectors[len(queries) :].T / TEMPERATURE
        targets = torch.stack(wanted)
        others = scores.masked_fill(targets != 0, -1e9).logsumexp(1, keepdim=True)
        right = (targets == 1).float()
        each = nn.functional.softplus(others - scores) * right
        result: torch.Tensor = (each.sum(1) / right.sum(1)).mean()
        return result

    def measure(self, student: Encoder, groups: Sequence[Group]) -> str:
        """Return how often the first note of a question is one that answers it, and the first newer
        one, among all notes of these groups.
        """
        notes = [(at, note) for at, group in enumerate(groups) for note in _labelled(group)]
        questions = [(at, question) for at, group in enumerate(groups) for question in group.questions]
        texts = [*(question for _, question in questions), *(text for _, (text, _) in notes)]
        vectors = encode_all(student, [self._rows[text] for text in texts])
        scores = vectors[: len(questions)] @ vectors[len(questions) :].T
        right = torch.tensor(
            [[a == n and label == "replaces" for n, (_, label) in notes] for a, _ in questions]
        )
        firsts = right.gather(1, scores.argsort(1, descending=True)[:, :3]).float()
        newer = right & torch.tensor([text != groups[at].older for at, (text, _) in notes])
        best = scores.masked_fill(~newer, -1).amax(1, keepdim=True)
        places = ((scores > best) & ~right).sum(1)[newer.any(1)]
        return (
            f"first {firsts[:, 0].mean():.3f}, in three {firsts.amax(1).mean():.3f}, "
            f"a newer one before all wrong ones {(places == 0).float().mean():.3f}"
        )


def _labelled(group: Group) -> list[tuple[str, str]]:
    return [(group.older, "replaces"), *((note.text, note.label) for note in group.newer)]


def _texts(group: Group) -> set[str]:
    newer = {text for note in group.newer for text in (note.text, note.question) if text}
    return {group.older, *group.questions, *newer}


def teach_questions(
    student: Encoder, lessons: Lessons, sentences: Sentences, epochs: int, draw: random.Random
) -> None:
    """Bring questions near to the notes that answer them, and let sentences keep their vectors."""
    order = list(lessons.groups)
    draw.shuffle(order)
    held_out, order = order[: len(order) // 14], order[len(order) // 14 :]
    print(f"before: {lessons.measure(student, held_out)}", flush=True)
    optimizer = torch.optim.AdamW(student.parameters(), lr=RATE, weight_decay=0.01)
    step, steps = 0, epochs * (len(order) // GROUPS)
    for epoch in range(epochs):
        draw.shuffle(order)
        for at in range(0, len(order) - GROUPS + 1, GROUPS):
            rate = RATE * min(1.0, (step + 1) / WARM) * max(0.02, 1 - step / steps)
            for part in optimizer.param_groups:
                part["lr"] = rate
            optimizer.zero_grad()
            apart = lessons.loss(student, order[at : at + GROUPS], draw)
            (apart + STAY * sentences.loss(student, draw)).backward()
            nn.utils.clip_grad_norm_(student.parameters(), 1.0)
            optimizer.step()
            step += 1
        print(f"epoch {epoch + 1}: {lessons.measure(student, held_out)}", flush=True)
