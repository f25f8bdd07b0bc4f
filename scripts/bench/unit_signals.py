"""The signals of the units that answer a question, and what the landed program puts first.

A module of units.py: indexes a tree and asks the engines in this process, without sockets.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
from product import isolated_environment

from cortex.ask.exploring.ranked_units import ASIDE, FILES, HITS
from cortex.ask.freshness import Freshness
from cortex.ask.lanes import NAME_CANDIDATES, Lanes, rank_lanes, text_candidates, vector_candidates
from cortex.ask.query_context import QueryContext
from cortex.ask.questions import Search
from cortex.engines.serving import EngineWorker
from cortex.ranking import Ranked, read_question, score_candidates
from cortex.ranking.floor import gather_evidence
from cortex.ranking.units import CANDIDATES, chunk_hits, file_places, unit_signals
from cortex.settings import config as configuration
from cortex.terms import tokens
from cortex.terms.code.inline_tests import is_test_code
from ipc.codec import encode
from ipc.messages import (
    CountWords,
    Filters,
    Locate,
    MeaningSearch,
    Place,
    Show,
    TextSignals,
    UnitsAt,
    UnitSearch,
)
from ipc.service import answer
from workers import text as text_worker
from workers import vector as vector_worker

#: results of an answer of the landed program
RESULTS = 10
#: bytes of an answer of the landed program
ANSWER_BYTES = 6_000
#: questions without an answer: of other repositories, of made-up words
OTHERS, MADE_UP = 60, 20
#: words of a question, the rarest ones, that no index without an answer may hold
RAREST = 2

ANSWERED = ("fix", "doc", "name")
_EVERYDAY = Path(__file__).parent / "everyday.txt"
_SYLLABLES = "bla cro fim gur jex kli mop nur plo quis rav sny tro vop wux yim zor dre fli hob".split()
_FORMS = (
    "how does the {} handle {} when {} is {}",
    "fix {} in {} {}",
    "{} {} fails with {}",
    "where is {}{} called",
    "`{}.{}` returns wrong {}",
)

#: seconds for an answer
ANSWER_S = 60.0

#: text of an entry that gives the line of the file where it goes on
_GOES_ON = re.compile(r"… line (\d+)$")
#: (path, line) → number of its unit
Holder = dict[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class _Asker:
    """An `Asker` of workers in this process, by frames but without sockets."""

    workers: Mapping[str, EngineWorker]

    async def ask(self, worker: str, message: Any, deadline_s: float) -> Any:  # noqa: ARG002 - of the protocol
        return answer(self.workers[worker], encode(message))


class Engines:
    """The text, the vector and the graph engine of an indexed project."""

    def __init__(self, root: Path) -> None:
        self._config = configuration.load(str(root))
        self._freshness = Freshness(self._config)
        self._workers = {
            "text": text_worker.make(self._config),
            "vector": vector_worker.make(self._config),
            "graph": EngineWorker("graph", self._config),
        }

    def context(self) -> QueryContext:
        """Return the context of a call that asks these engines, without sockets."""
        return QueryContext(self._config, _Asker(self._workers), self._freshness, time.monotonic() + ANSWER_S)

    def ask(self, message: Any) -> Any:
        for worker in self._workers.values():
            if type(message) in worker.handlers:
                return worker.handlers[type(message)](message)
        raise SystemExit(f"no engine answers {type(message).__name__}")

    def lanes(self, query: str) -> tuple[Lanes, list[Ranked]]:
        """Return the replies to a question, and the files that they rank."""
        reading = read_question(query)
        question = Search(reading.query, limit=HITS)
        located, names = None, ()
        if reading.places or reading.names:
            located = self.ask(Locate(reading.places))
            names = tuple(self.ask(TextSignals(name, NAME_CANDIDATES)) for name in reading.names)
        lanes = Lanes(
            self.ask(TextSignals(reading.query, text_candidates(question))),
            self.ask(MeaningSearch(reading.query, vector_candidates(question), Filters(), 0, False)),
            located,
            names,
        )
        return lanes, rank_lanes(lanes, replace(question, limit=FILES), reading, 0.45)

    def shown(self, query: str, lanes: Lanes, ranked: Sequence[Ranked]) -> Any:
        """Return the lines that the landed program shows, and the hits that they are of."""
        reading, hits = read_question(query), [ranked_hit.hit for ranked_hit in ranked[:RESULTS]]
        keys, speaking = score_candidates(lanes.replies, {hit.path for hit in hits})
        request = Show(
            keys=tuple(hit.key for hit in hits),
            scores=tuple(ranked_hit.score for ranked_hit in ranked[:RESULTS]),
            query=reading.query,
            places=reading.places,
            max_bytes=ANSWER_BYTES,
            found=keys,
            speaking=speaking,
        )
        return self.ask(request), hits


class Units:
    """All units of a project, and the lines of their files."""

    def __init__(self, engines: Engines, root: Path, paths: Iterable[str]) -> None:
        self._root = root
        reply = engines.ask(UnitsAt(tuple(Place(path) for path in paths)))
        self.all = [orjson.loads(raw) for raw in reply.units]
        self.numbers = {(unit["path"], unit["start"], unit["end"]): at for at, unit in enumerate(self.all)}
        self.holder: Holder = {
            (unit["path"], line): at
            for at, unit in enumerate(self.all)
            for first, last in unit["ranges"]
            for line in range(first, last + 1)
        }
        self._lines: dict[str, list[str]] = {}
        self._words: Counter[str] = Counter()

    def gold(self, places: Iterable[tuple[str, int, int]]) -> set[int]:
        """Return the units in which the wanted definitions begin."""
        wanted = set()
        for path, start, end in places:
            numbers = (self.holder.get((path, line)) for line in range(start, end + 1))
            wanted.add(next((number for number in numbers if number is not None), -1))
        return wanted - {-1}

    def of_hits(self, query: str, ranked: Iterable[Ranked]) -> list[int]:
        """Return the unit with the best line of each hit: the order of chunks."""
        words = frozenset(tokens.lane_words(query))
        numbers: dict[int, None] = {}
        for ranked_hit in ranked:
            lines = self._text(ranked_hit.hit.path)
            line_scores = [
                (len(words.intersection(tokens.lane_words(lines[line - 1]))), -line, number)
                for line in range(ranked_hit.hit.start_line, min(ranked_hit.hit.end_line, len(lines)) + 1)
                if (number := self.holder.get((ranked_hit.hit.path, line))) is not None
            ]
            if line_scores:
                numbers[max(line_scores)[2]] = None
        return list(numbers)

    def of_answer(self, reply: Any, hits: Sequence[Any]) -> list[int]:
        """Return the units that a reply with lines shows or names, in its order."""
        chunks = []
        for raw, of in zip(reply.entries, reply.of, strict=True):
            chunk = orjson.loads(raw)
            chunk.setdefault("metadata", {})["file_path"] = hits[of].path
            chunks.append(chunk)
        return self.of_chunks(chunks, reply.more)

    def of_chunks(self, chunks: Iterable[dict[str, Any]], more: Iterable[str]) -> list[int]:
        """Return the units of an answer's chunks, then those at its places `path:line`."""
        numbers: dict[int, None] = {}
        for chunk in chunks:
            if not has_lines(chunk):
                continue
            lines = Counter(self.holder[key] for key in lines_of({"chunk": chunk}) if key in self.holder)
            main = chunk["metadata"].get("symbol")
            for number in sorted(lines, key=lambda at: (self.all[at].get("symbol") != main, -lines[at])):
                numbers[number] = None
        for place in more:
            path, _, line = place.rpartition(":")
            number = self.holder.get((path, int(line))) if line.isdigit() else None
            if number is not None:
                numbers[number] = None
        return list(numbers)

    def _text(self, path: str) -> list[str]:
        if path not in self._lines:
            try:
                self._lines[path] = (self._root / path).read_text(errors="replace").split("\n")
            except OSError:
                self._lines[path] = []
        return self._lines[path]


def lines_of(result: dict[str, Any]) -> set[tuple[str, int]]:
    """Return (path, number) of the lines that an entry shows."""
    chunk = result["chunk"]
    path, number = chunk["metadata"]["file_path"], chunk["metadata"]["start_line"]
    visible_lines = set()
    for line in chunk["text"].split("\n"):
        if goes_on := _GOES_ON.fullmatch(line):
            number = int(goes_on[1])
        else:
            visible_lines.add((path, number))
            number += 1
    return visible_lines


def has_lines(chunk: Mapping[str, Any]) -> bool:
    return bool(chunk.get("text")) and "start_line" in chunk["metadata"]


def without_answer(name: str, work: Path) -> list[dict[str, Any]]:
    """Return the questions that no unit of the project answers."""
    rows = []
    for path in sorted((work / "questions").glob("*.json")):
        if path.stem != name:
            rows += [
                {"kind": "other", "query": row["query"]}
                for row in json.loads(path.read_text())["questions"]
                if row["kind"] in ("fix", "doc")
            ]
    rows.sort(key=lambda row: sha256(f"{name} {row['query']}".encode()).digest())
    rows = rows[:OTHERS]
    rows += [{"kind": "everyday", "query": line} for line in _EVERYDAY.read_text().splitlines()]
    chance = random.Random(7)

    def word() -> str:
        return "".join(chance.choice(_SYLLABLES) for _ in range(chance.randint(2, 3)))

    for at in range(MADE_UP):
        form = _FORMS[at % len(_FORMS)]
        rows.append({"kind": "madeup", "query": form.format(*(word() for _ in range(form.count("{}"))))})
    return rows


def index_once(root: Path, command: Sequence[str]) -> None:
    """Index a tree with a `cortex`, and end its processes."""
    (root / ".git").mkdir(exist_ok=True)
    for verb in ("index", "down"):
        subprocess.run(
            [*command, verb, "--project", root],
            check=verb == "index",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=600,
        )


def ask(name: str, work: Path, sample: int) -> None:
    """Index a tree, and write the signals of its questions."""
    root = work / "trees" / name
    (root / ".cortex").mkdir(exist_ok=True)
    (root / ".cortex" / "config.yml").touch()
    spec = json.loads((work / "questions" / f"{name}.json").read_text())
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in [*spec["questions"], *without_answer(name, work)]:
        kinds[row["kind"]].append(row)
    with isolated_environment(work / "home"):
        index_once(root, [sys.executable, "-P", "-m", "cortex"])
        engines = Engines(root)
        paths = [str(path.relative_to(root)) for path in sorted(root.rglob("*")) if path.is_file()]
        units = Units(engines, root, paths)
        began = time.monotonic()
        rows = [
            _signals(row, engines, units) for some in kinds.values() for row in some[: sample or len(some)]
        ]
    (work / "signals" / f"{name}.json").write_bytes(orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY))
    counts = Counter(row["kind"] for row in rows)
    print(f"{name:16}{len(units.all):7} units {dict(counts)} {time.monotonic() - began:.0f} s", flush=True)


def _signals(row: Mapping[str, Any], engines: Engines, units: Units) -> dict[str, Any]:
    query = row["query"]
    reading = read_question(query)
    lanes, ranked = engines.lanes(query)
    hits = engines.ask(UnitSearch(reading.query, CANDIDATES, aside=ASIDE))
    candidates = [orjson.loads(raw) for raw in hits.units]
    values = unit_signals(query, candidates, hits, file_places(ranked), chunk_hits(lanes.replies))
    counts = engines.ask(CountWords(reading.query))
    evidence = gather_evidence(reading.query, counts, hits, lanes.vector)
    numbers = [units.numbers[unit["path"], unit["start"], unit["end"]] for unit in candidates]
    out = {
        "kind": row["kind"],
        "query": query,
        "units": numbers,
        "tests": [is_test_code(unit["path"], unit.get("symbol", "")) for unit in candidates],
        "values": values,
        "evidence": [evidence.known_share, evidence.words, evidence.cosine],
    }
    counts_by_word: Counter[str] = Counter()
    for key, number in counts.holding.items():
        counts_by_word[key.partition(" ")[2]] += number
    words = [word for word in tokens.lane_words(reading.query) if word not in tokens.STOP_WORDS]
    if row["kind"] not in ANSWERED:
        return out | {"unknown": [word for word in words if not counts_by_word[word]]}
    reply, hits_shown = engines.shown(query, lanes, ranked)
    return out | {
        "rarest": sorted(words, key=lambda word: (counts_by_word[word], word))[:RAREST],
        "gold": sorted(units.gold(row["gold"])),
        "hits": units.of_hits(query, ranked),
        "shown": units.of_answer(reply, hits_shown),
    }
