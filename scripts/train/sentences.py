"""Train the embedding model of notes: three layers that learn to make the vectors of six, and then
to bring a question near to the notes that answer it.

    python -m scripts.train.sentences --minilm FOLDER --clones FOLDER --exclude FILE --out FOLDER
        [--steps N | --resume FOLDER] [--epochs N] [--seed N]

`--minilm` holds all-MiniLM-L6-v2's `vocab.txt` and `model.safetensors`, the teacher; `--clones` a
git folder for each line of sentence_repositories.tsv (`<owner>+<name>`), none of them in
`--exclude`; `--out` gets the files of cortex/embedders/cortex_sentences. Needs torch beside Cortex;
25 minutes on two cores.

It learns the teacher's vectors of sentences of commit messages, of documents, of the notes and
questions written for the models of memory, and of questions made of pieces of them; then which of
the notes answer a question, mostly in other words. `--resume` goes on from the weights in FOLDER,
without the first part: so the ones in Cortex were made, as MODEL_CARD.md beside them tells.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import torch
from torch import nn

from cortex.embedders.sentences import MODEL_DIR
from scripts.train.bert import (
    LAYERS,
    TOKENS,
    WIDTH,
    Encoder,
    distance,
    encode,
    encode_all,
    export,
    resume,
    tokens_of,
)
from scripts.train.examples import QUESTIONS, REPLACEMENTS, groups_of, read_groups, read_months
from scripts.train.questions import Lessons, Sentences, teach_questions
from scripts.train.sources import Source, git, read_excluded, read_list

SOURCES = Path(__file__).with_name("sentence_repositories.tsv")
#: layers of the teacher that training starts from; places of the model, for the TOKENS of
#: cortex/embedders/sentences.py and two marks
STUDENT, PLACES = (0, 2, 5), 128
#: commits and documents read of a repository, characters of a document, sentences of a message;
#: sentences drawn of each repository from either
COMMITS, DOCUMENTS, DOCUMENT_CHARS, OF_MESSAGE, DRAWN = 6_000, 150, 60_000, 4, 2_500
#: sentences that questions are made of, besides notes; share of them that only words are drawn of
QUESTION_SENTENCES, WORDS_SHARE = 60_000, 0.3
BATCH, RATE, WARM = 192, 6e-4, 200
#: sentences that are left out of training, to measure it
LEFT_OUT = 4_000

_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n|\n\s*[-*+] ")
_DOCUMENT = re.compile(r"\.(md|rst|adoc|mdx|txt)$", re.IGNORECASE)
_REFUSED = re.compile(r"(^|/)(node_modules|vendor|fixtures|locale)")
_CODE, _LINK = re.compile(r"```.*?```", re.DOTALL), re.compile(r"\[([^\]]*)\]\([^)]*\)|https?://\S+")
_REFERENCES, _MARKS = re.compile(r"\(#\d+\)|#\d+"), re.compile(r"[`*_#>|]+")
_TRAILER = re.compile(r"(Merge|Signed-off|Co-authored|Bump|Reviewed|Change-Id)")
#: beginnings of questions
ASKING = (
    "what is", "where is", "where are", "how do we", "how does", "why does", "when does", "who", "which",
    "what do we use for", "how long is", "how many", "where do", "what happens with", "who decides about",
    "do we still use", "is it true that", "what is the limit of", "what changed with", "how should I",
)  # fmt: skip


def sentences_of(text: str) -> Iterator[str]:
    """Yield the English sentences of a text without its marks."""
    for sentence in _SENTENCE.split(_CODE.sub("", text)):
        plain = _MARKS.sub("", _LINK.sub(r"\1", _REFERENCES.sub("", " ".join(sentence.split())))).strip()
        letters = sum(letter.isalpha() or letter == " " for letter in plain)
        if (
            12 <= len(plain) <= 260
            and plain.isascii()
            and plain.count(" ") > 1
            and letters > 0.78 * len(plain)
        ):
            yield plain


def read_repository(source: Source, clones: Path, draw: random.Random) -> set[str]:
    """Return sentences of its commit messages and of its documents."""
    folder = source.folder(clones)
    log = git(folder, "log", f"-n{COMMITS}", "--format=%s%n%n%b%x00", source.revision)
    from_messages = {
        sentence
        for message in log.split("\0")
        for sentence in list(sentences_of(message))[:OF_MESSAGE]
        if not _TRAILER.match(sentence)
    }
    names = git(folder, "ls-tree", "-r", "--name-only", source.revision).splitlines()
    names = [name for name in names if _DOCUMENT.search(name) and not _REFUSED.search(name)]
    draw.shuffle(names)
    texts = (git(folder, "show", f"{source.revision}:{name}")[:DOCUMENT_CHARS] for name in names[:DOCUMENTS])
    from_documents = {sentence for text in texts for sentence in sentences_of(text)}
    parts = (draw.sample(sorted(part), min(DRAWN, len(part))) for part in (from_messages, from_documents))
    return {sentence for part in parts for sentence in part}


def read_notes() -> list[str]:
    """Return the notes and questions written for the models of memory."""
    texts = set[str]()
    for group in read_groups(REPLACEMENTS, QUESTIONS):
        texts |= {group.older, *group.questions}
        texts |= {text for note in group.newer for text in (note.text, note.question)}
    texts |= {text for month in read_months() for note in month for text in (note.text, *note.questions)}
    return sorted(texts - {""})


def make_questions(sentences: Iterable[str], draw: random.Random) -> set[str]:
    """Return questions made of pieces of sentences, and words drawn of some."""
    questions = set[str]()
    for sentence in sentences:
        words = re.sub(r"[.;:,]", " ", sentence).split()
        count = draw.randint(2, 7)
        first = draw.randint(0, max(0, len(words) - count))
        piece = " ".join(words[first : first + count])
        questions.add(f"{draw.choice(ASKING)} {piece[:1].lower()}{piece[1:]}?")
        if draw.random() < WORDS_SHARE:
            questions.add(" ".join(draw.sample(words, min(len(words), draw.randint(1, 4)))))
    return questions


def gather(clones: Path, exclude: Path, draw: random.Random) -> list[str]:
    """Return all sentences to learn from, in a drawn order."""
    sources, excluded = read_list(SOURCES), read_excluded(exclude)
    if wrong := [source.name for source in sources if source.name.lower() in excluded or not source.licence]:
        raise SystemExit(f"{SOURCES} names repositories that must not be trained on: {', '.join(wrong)}")
    texts = sorted(set().union(*(read_repository(source, clones, draw) for source in sources)))
    notes = read_notes()
    texts = sorted(
        {
            *texts,
            *notes,
            *make_questions([*draw.sample(texts, min(QUESTION_SENTENCES, len(texts))), *notes], draw),
        }
    )
    draw.shuffle(texts)
    return texts


def batches(rows: Sequence[list[int]], draw: random.Random) -> Iterator[list[int]]:
    """Yield indices of rows of like length, in a drawn order, again and again."""
    while True:
        order = list(range(LEFT_OUT, len(rows)))
        draw.shuffle(order)
        size = 40 * BATCH
        parts = [
            sorted(order[at : at + size], key=lambda i: len(rows[i])) for at in range(0, len(order), size)
        ]
        drawn = [part[at : at + BATCH] for part in parts for at in range(0, len(part), BATCH)]
        draw.shuffle(drawn)
        yield from drawn


def train(
    student: Encoder, rows: Sequence[list[int]], taught: torch.Tensor, steps: int, draw: random.Random
) -> None:
    """Let the vectors be the teacher's, and their cosines within a batch."""
    optimizer = torch.optim.AdamW(student.parameters(), lr=RATE, weight_decay=0.01, betas=(0.9, 0.98))
    drawn = batches(rows, draw)
    for step in range(steps):
        rate = RATE * min(1.0, (step + 1) / WARM) * max(0.02, 0.5 * (1 + math.cos(math.pi * step / steps)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        part = next(drawn)
        optimizer.zero_grad()
        distance(encode(student, [rows[at] for at in part]), taught[part]).backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        if step % 200 == 199 or step == steps - 1:
            likeness = (encode_all(student, rows[:LEFT_OUT]) * taught[:LEFT_OUT]).sum(1).mean().item()
            print(f"step {step + 1}: cosine to the teacher {likeness:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("minilm", "clones", "exclude", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=2_200)
    parser.add_argument("--resume", type=Path, help="folder of a model that knows the teacher's vectors")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    draw = random.Random(options.seed)
    texts = gather(options.clones, options.exclude, draw)
    print(f"{len(texts)} sentences", flush=True)
    vocabulary = (options.minilm / "vocab.txt").read_text().splitlines()
    teacher = Encoder(options.minilm, vocabulary, TOKENS + 2, range(LAYERS))
    taught = encode_all(teacher, tokens_of(texts, vocabulary))
    del teacher
    words = json.loads((MODEL_DIR / "vocab.json").read_text())
    student = Encoder(options.minilm, words, PLACES, STUDENT)
    rows = tokens_of(texts, words)
    if options.resume:
        resume(student, options.resume, {})
    else:
        train(student, rows, taught, options.steps, draw)
    order = sorted(range(LEFT_OUT, len(rows)), key=lambda at: len(rows[at]))
    lessons = Lessons([*read_groups(REPLACEMENTS, QUESTIONS), *groups_of(read_months())], words)
    sentences = Sentences([rows[at] for at in order], taught[order])
    teach_questions(student, lessons, sentences, options.epochs, draw)
    export("cortex-sentences", student, words, options.out, {}, dimensions=WIDTH)


if __name__ == "__main__":
    main()
