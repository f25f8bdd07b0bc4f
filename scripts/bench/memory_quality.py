#!/usr/bin/env python3
"""A benchmark of recall in memory: LoCoMo's questions about long conversations, through
`Library.recall`, beside plain tantivy in the same run; the gain of each lane, and recall after
upkeep.

    scripts/bench/memory_quality.py FOLDER [--model MODEL] [--ablation] [--edges] [--json]

FOLDER holds data/locomo10.json of github.com/snap-research/LoCoMo (CC BY-NC 4.0: for measuring
only, never copied here). Conversations 1 to 4 are for development; the other six, with --judging,
are for judging only. MODEL is the folder of an ONNX model, or `static`: measured beside the
default one.
LoCoMo's observations of a conversation are notes of one sentence, without sessions.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import report
import tantivy

from cortex.embedders import Embedder
from cortex.memory.find import ranking
from cortex.memory.library import Library, finish
from cortex.memory.library.transfer import export_page
from cortex.memory.upkeep.run import run_consolidation

#: conversations for development, of ten
BUILT_ON = 4
#: categories of the questions that have an answer, by LoCoMo's numbers
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
#: limit of the results, and the ranks at which recall is computed
LIMIT, AT = 20, (1, 5, 10, 20)
#: results whose text counts as tokens of an answer, and characters of a token
READ_ROWS, TOKEN_CHARS = 10, 4
#: factors of the ranking besides its lanes
FACTORS = ("SPEAKER", "TIME", "ASKS", "IMPORTANCE", "RECENCY", "USE")
#: records of a slice of an import
SLICE = 200


@dataclass(frozen=True)
class Question:
    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True)
class Turn:
    """`id`: of a turn; of an observation those of its turns, separated by commas."""

    id: str
    session: str
    at: int
    text: str


@dataclass(frozen=True)
class Conversation:
    turns: list[Turn]
    questions: list[Question]
    observations: list[Turn]


#: a question → ids of turns, the best first, and the characters of their text
Asking = Callable[[Question], tuple[list[str], int]]


def read(folder: Path) -> list[Conversation]:
    """Read the conversations, without evidence that names no turn, and questions without
    evidence.
    """
    path = next(
        (p for p in (folder / "data" / "locomo10.json", folder / "locomo10.json") if p.exists()), None
    )
    if path is None:
        raise SystemExit(f"{folder} has no data/locomo10.json: clone github.com/snap-research/LoCoMo.")
    return [_conversation(conversation) for conversation in orjson.loads(path.read_bytes())]


def _conversation(entry: dict[str, Any]) -> Conversation:
    turns_by_session = entry["conversation"]
    names = sorted(
        (name for name in turns_by_session if re.fullmatch(r"session_\d+", name)),
        key=lambda name: int(name.split("_")[1]),
    )
    turns = []
    for name in names:
        moment = datetime.strptime(turns_by_session[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(
            tzinfo=UTC
        )
        for turn in turns_by_session[name]:
            caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{turn['speaker']}: {turn['text']}{caption}"
            turns.append(Turn(turn["dia_id"], name, int(moment.timestamp() * 1000), text))
    turn_ids = {turn.id for turn in turns}
    observations = [
        Turn(",".join(ids if isinstance(ids, list) else [ids]), "", 0, sentence)
        for by_speaker in entry["observation"].values()
        for sentences in by_speaker.values()
        for sentence, ids in sentences
    ]
    questions = []
    for qa in entry["qa"]:
        evidence = {
            turn_id for mention in qa["evidence"] for turn_id in re.findall(r"D\d+:\d+", mention)
        } & turn_ids
        if qa["category"] in CATEGORIES and evidence:
            questions.append(Question(qa["question"], qa["category"], frozenset(evidence)))
    return Conversation(turns, questions, observations)


def store(turns: Sequence[Turn], folder: Path, model: Callable[[], Embedder] | None) -> Library:
    """Store each turn as a note of its session."""
    memory = Library.open(folder, model=model)
    records = [
        {
            "note": {
                "title": turn.text[:250],
                "body": turn.text,
                "kind": "event" if turn.session else "fact",
                "occurred_at": turn.at,
                "metadata": {"turn": turn.id},
                "source": {"agent": "bench", "session": turn.session},
            }
        }
        for turn in turns
    ]
    for at in range(0, len(records), SLICE):
        memory.import_records(records[at : at + SLICE])
    report.embed(memory.memory)
    return memory


def ask_memory(memory: Library) -> Asking:
    turn_of_note: dict[str, str] = {}
    after = ""
    while True:
        records, after = export_page(memory.memory, after, 1_000, memory.project)
        notes = [record["note"] for record in records if "note" in record]
        turn_of_note |= {note["id"]: note["metadata"]["turn"] for note in notes}
        if not after:
            break

    def ask(question: Question) -> tuple[list[str], int]:
        rows = memory.recall(question.text, limit=LIMIT)
        chars = sum(len(row["body"] or row["title"]) for row in rows[:READ_ROWS])
        return [turn_of_note[row["id"]] for row in rows], chars

    return ask


def look_after(memory: Library) -> None:
    """Do all that upkeep does by the clock, until nothing is left."""
    while finish(run_consolidation(memory))["remaining"]:
        pass


def edge_kinds(
    memories: Sequence[Library], pairs: Sequence[tuple[Conversation, Asking]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the scores with the automatic edges of one detection only, and without any."""
    links = [memory.memory.links for memory in memories]
    edges = [each.edges(each.numbers()) for each in links]
    detections = sorted({edge.detection for listed in edges for edge in listed})
    for detection in ("", *detections):
        for each, listed in zip(links, edges, strict=True):
            each.take(
                [edge for edge in listed if edge.detection == detection],
                gone=[edge.number for edge in listed],
            )
        count = sum(edge.detection == detection for listed in edges for edge in listed)
        yield f"{count} edges by {detection or 'nothing'}", measure(pairs)
    for each, listed in zip(links, edges, strict=True):
        each.take(listed)


def ask_tantivy(conversation: Conversation, neighbours: int) -> Asking:
    """Search turns with English stems in tantivy, each with so many neighbours of its session."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("at", stored=True)
    builder.add_text_field("text", tokenizer_name="en_stem")
    index = tantivy.Index(builder.build())
    writer = index.writer(heap_size=20_000_000, num_threads=1)
    turns = conversation.turns
    for at, turn in enumerate(turns):
        neighbourhood = turns[max(0, at - neighbours) : at + neighbours + 1]
        text = " ".join(near_turn.text for near_turn in neighbourhood if near_turn.session == turn.session)
        writer.add_document(tantivy.Document(at=at, text=text))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def ask(question: Question) -> tuple[list[str], int]:
        words = " ".join(re.findall(r"\w+", question.text))
        hits = searcher.search(index.parse_query(words, ["text"]), LIMIT).hits
        ranked = [turns[searcher.doc(address)["at"][0]] for _, address in hits]
        return [turn.id for turn in ranked], sum(len(turn.text) for turn in ranked[:READ_ROWS])

    return ask


def measure(pairs: Sequence[tuple[Conversation, Asking]]) -> dict[str, Any]:
    """Return {"all" or category: {"questions", "R@k", "MRR", "nDCG@10"}, "tokens", "p50", "p95":
    ms}.
    """
    values: dict[str, list[dict[str, float]]] = defaultdict(list)
    seconds, chars = [], []
    for conversation, ask in pairs:
        for question in conversation.questions:
            begun = time.perf_counter()
            turn_ids, chars_read = ask(question)
            seconds.append(time.perf_counter() - begun)
            chars.append(chars_read)
            scored = score(turn_ids, question.evidence)
            values["all"].append(scored)
            values[CATEGORIES[question.category]].append(scored)
    figures: dict[str, Any] = {
        name: {"questions": len(rows)}
        | {key: round(float(np.mean([row[key] for row in rows])), 3) for key in rows[0]}
        for name, rows in values.items()
    }
    times = [1000 * second for second in seconds]
    return (
        figures | {"tokens": round(float(np.mean(chars)) / TOKEN_CHARS)} | report.percentiles(times, (50, 95))
    )


def score(turn_ids: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    """Return the scores: recall is the share of the evidence; MRR counts the first of it."""
    covered = [evidence.intersection(turn_id.split(",")) for turn_id in turn_ids]
    right = [bool(some) for some in covered]
    recall = {f"R@{at}": len(frozenset().union(*covered[:at])) / len(evidence) for at in AT}
    gain = sum(hit / np.log2(at + 2) for at, hit in enumerate(right[:10]))
    ideal = sum(1 / np.log2(at + 2) for at in range(min(10, len(evidence))))
    first = next((1 / (at + 1) for at, hit in enumerate(right) if hit), 0.0)
    return recall | {"MRR": first, "nDCG@10": float(gain / ideal)}


def ablations(pairs: Sequence[tuple[Conversation, Asking]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the scores without each lane and factor of the ranking."""
    weights = ranking.WEIGHTS
    assert isinstance(weights, dict)
    for lane in list(weights):
        weight, weights[lane] = weights[lane], 0.0
        yield f"without {lane}", measure(pairs)
        weights[lane] = weight
    for factor in FACTORS:
        weight = getattr(ranking, factor)
        setattr(ranking, factor, 0.0)
        yield f"without {factor.lower()}", measure(pairs)
        setattr(ranking, factor, weight)


def show(name: str, figures: Mapping[str, Any], *, categories: bool = True) -> None:
    columns = ("questions", *(f"R@{at}" for at in AT), "MRR", "nDCG@10")
    rows = [
        (
            f"{name}: {category}" if category == "all" else f"  {category}",
            *(_cell(figures[category][key]) for key in columns),
        )
        for category in ("all", *CATEGORIES.values())
        if category in figures and (categories or category in ("all", "multi-hop"))
    ]
    report.print_table(
        (f"{figures['tokens']} tokens, p50 {figures['p50']} p95 {figures['p95']} ms", *columns), rows
    )


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def measure_model(
    conversations: Sequence[Conversation],
    name: str,
    model: Callable[[], Embedder] | None,
    options: argparse.Namespace,
    place: Path,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the scores with a model: of turns, of turns after upkeep, of observations."""
    memories = [store(each.turns, place / str(at), model) for at, each in enumerate(conversations)]
    pairs = [(each, ask_memory(memory)) for each, memory in zip(conversations, memories, strict=True)]
    yield f"recall, {name}", measure(pairs)
    for label, left in ablations(pairs) if options.ablation else ():
        yield f"{name} {label}", left
    for memory in memories:
        look_after(memory)
        report.embed(memory.memory)
    yield f"recall after upkeep, {name}", measure(pairs)
    for label, left in edge_kinds(memories, pairs) if options.edges else ():
        yield f"{name}, {label}", left
    for memory in memories:
        memory.close()
    memories = [
        store(each.observations, place / f"observations-{at}", model) for at, each in enumerate(conversations)
    ]
    pairs = [(each, ask_memory(memory)) for each, memory in zip(conversations, memories, strict=True)]
    yield f"observations, {name}", measure(pairs)
    for memory in memories:
        memory.close()


def main() -> None:
    parser = report.make_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--model", type=Path, help="folder of an ONNX model, or static: measured beside the default one"
    )
    parser.add_argument("--ablation", action="store_true", help="measure the gain of each lane")
    parser.add_argument("--edges", action="store_true", help="measure each kind of automatic edges")
    parser.add_argument("--judging", action="store_true", help="the six conversations for judging")
    options = parser.parse_args()
    conversations = read(options.folder)
    measured_conversations = conversations[BUILT_ON:] if options.judging else conversations[:BUILT_ON]
    figures = report.begin("memory_quality") | {"conversations": "5-10" if options.judging else "1-4"}
    for neighbours, name in enumerate(("tantivy, turns", "tantivy, turns with neighbours")):
        figures[name] = measure(
            [(conversation, ask_tantivy(conversation, neighbours)) for conversation in measured_conversations]
        )
        show(name, figures[name])
    for model_name, model in report.models(options.model).items():
        with tempfile.TemporaryDirectory() as folder:
            for name, scores in measure_model(
                measured_conversations, model_name, model, options, Path(folder)
            ):
                figures[name] = scores
                show(name, scores, categories=name.startswith(("recall", "observations")))
    if options.json:
        report.write(figures)


if __name__ == "__main__":
    main()
