"""An engine as a worker: its memory when idle."""

from __future__ import annotations

from cortex.engines.serving import EngineWorker
from ipc.messages import TextSignals
from tests.resident_memory import needs_smaps, resident


@needs_smaps
def test_an_idle_worker_gives_back_the_memory_of_its_answers(sample):
    worker = EngineWorker("text", sample.config)
    worker.reload()
    answer = worker.handlers[TextSignals](TextSignals("SessionStore", 10))
    segments = [path for path in worker._files[answer.generation] if path.parent.name == "segments"]
    resident_bytes = sum(map(resident, segments))
    worker.reload()
    assert sum(map(resident, segments)) == resident_bytes > 0  # used since the last check
    worker.reload()
    assert sum(map(resident, segments)) < resident_bytes
    assert worker.handlers[TextSignals](TextSignals("SessionStore", 10)).hits == answer.hits
