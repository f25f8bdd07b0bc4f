"""An engine as a worker: what it holds in memory while nobody asks."""

from __future__ import annotations

from cortex.engines.serving import EngineWorker
from ipc.messages import TextSignals
from tests.resident_memory import needs_smaps, resident


@needs_smaps
def test_a_worker_that_nobody_asks_gives_back_what_answers_have_left_in_memory(sample):
    worker = EngineWorker("text", sample.config)
    worker.reload()
    answer = worker.handlers[TextSignals](TextSignals("SessionStore", 10))
    segments = [path for path in worker._files[answer.generation] if path.parent.name == "segments"]
    resident_bytes = sum(map(resident, segments))
    worker.reload()
    assert sum(map(resident, segments)) == resident_bytes > 0  # it was asked since the look before
    worker.reload()
    assert sum(map(resident, segments)) < resident_bytes
    assert worker.handlers[TextSignals](TextSignals("SessionStore", 10)).hits == answer.hits
