"""Fake workers that use the real codec, and questions to them."""

import asyncio
import time
from dataclasses import replace

import numpy as np
import orjson

from cortex.ask import exact as exactly
from cortex.ask import search as searching
from cortex.ask.freshness import Freshness
from cortex.ask.query_context import QueryContext
from cortex.ask.questions import Exact, Search
from cortex.generation import current as generations
from cortex.generation.current import Generation, SegmentRef
from cortex.settings.table import Embedding
from cortex.system.errors import BY_CODE, CortexError, NotReady, Unavailable
from ipc.codec import decode, encode
from ipc.messages import (
    Chunks,
    CountWords,
    Embed,
    Embedded,
    ExactHits,
    ExactSearch,
    Failure,
    Fetch,
    Hit,
    MeaningSearch,
    Show,
    Shown,
    TextSignals,
    VectorSearch,
    WordCounts,
    signals_of,
)

HITS = tuple(
    Hit(key, f"code-{path}~1", "code", path, 1, 9) for key, path in ((1, "a.py"), (2, "b.py"), (3, "c.py"))
)
BODIES = {
    hit.key: {
        "id": hit.id,
        "chunk_type": "code",
        "text": f"text of {hit.path}\n",
        "metadata": {"file_path": hit.path},
    }
    for hit in HITS
}


class Workers:
    """Answers as the workers do, from HITS, each request and reply through the codec.

    `faults`: worker → the error that it raises.
    """

    def __init__(self, generation=1):
        self.generation = generation
        self.faults: dict[str, CortexError] = {}
        self.silent: set[str] = set()
        self.requests: list[object] = []
        self.reloads_on_ask = False
        self.chunks = {key: orjson.dumps(body) for key, body in BODIES.items()}

    async def ask(self, worker, message, deadline_s):
        if worker in self.silent:
            await asyncio.sleep(deadline_s)
            raise Unavailable(f"The {worker} worker did not answer within {deadline_s:.1f} s.")
        request = decode(encode(message, 1))
        self.requests.append(request)
        try:
            if worker in self.faults:
                raise self.faults[worker]
            reply = self.answer(request)
        except CortexError as error:
            reply = Failure(error.code, str(error))
        reply = decode(encode(reply, 1))
        if isinstance(reply, Failure):
            raise BY_CODE[reply.code](reply.message)
        return reply

    def answer(self, request):
        wanted = getattr(request, "generation", 0)
        if wanted and wanted != self.generation:
            raise NotReady(f"Generation {wanted} is not open here.")
        match request:
            case Embed():
                return Embedded("fake@1", np.ones((1, 4), np.float32))
            case VectorSearch() | MeaningSearch():
                values = np.array([[0.9, 0.5, 0.1]], np.float32)
                stats = {"cosine_mean": 0.2, "cosine_std": 0.2, "rows": 3.0, "left_out": 0.0}
                return signals_of(self.generation, HITS, ("cosine",), values, stats)
            case CountWords():
                return WordCounts(self.generation, 3, {"lane_body words": 2})
            case Show():
                entries = tuple(self.chunks[key] for key in request.keys)
                return Shown(self.generation, entries=entries, of=tuple(range(len(entries))))
            case TextSignals():
                return signals_of(self.generation, HITS, ("body",), np.array([[1.0, 9.0, 0.0]], np.float32))
            case Fetch():
                return Chunks(
                    self.generation, False, tuple(self.chunks.get(key, b"") for key in request.keys)
                )
            case ExactSearch():
                return ExactHits(
                    generation=self.generation,
                    match_type=request.match_type or "exact",
                    hits=HITS[:2],
                    scores=(0.9, 0.5),
                    highlights=(("<em>a</em>",), ()),
                    highlight_lines=((1,), ()),
                    total_found=2,
                    truncated=False,
                    suggestion="",
                    chunks=tuple(self.chunks[hit.key] for hit in HITS[:2]),
                )
            case _:
                raise AssertionError(request)


def publish(config, number=1, sequence=5):
    generation = Generation(number=number, segments=(SegmentRef("s", 3, 3),), sequence=sequence)
    generations.publish(config.index_dir, generation)
    return generation


def remote(config):
    """Return the project with an embedding provider that the vector worker cannot run itself."""
    return replace(config, embedding=Embedding("http", "http://localhost:8121/embed"))


def make_context(config, workers, deadline_s=10.0, settled=0.0):
    return QueryContext(config, workers, Freshness(config), time.monotonic() + deadline_s, settled)


def search(config, workers, deadline_s=10.0, **question):
    question = Search(**({"query": "words"} | question))
    return plain(asyncio.run(searching.search(make_context(config, workers, deadline_s), question)))


def exact(config, workers, deadline_s=10.0, **question):
    question = Exact(**({"query": "words"} | question))
    return plain(asyncio.run(exactly.exact(make_context(config, workers, deadline_s), question)))


def plain(answer):
    return orjson.loads(orjson.dumps(answer))


def result_paths(answer):
    return [result["chunk"]["metadata"]["file_path"] for result in answer["results"]]
