"""How far the indexer is, as it says itself, for who publishes what it wrote."""

from __future__ import annotations

import msgspec

from cortex.generation.damage import UNREADABLE
from cortex.settings.config import Config
from cortex.system import files
from cortex.terms.records import STATE_BYTES_MAX, IndexerState


def read_state(config: Config) -> IndexerState | None:
    """What the indexer says of itself; None where none ever ran.

    Read before the chunk files are: all of a sequence that it has completed is then on disk.
    """
    try:
        return msgspec.json.decode(files.read_ours(config.indexer_state, STATE_BYTES_MAX), type=IndexerState)
    except (OSError, *UNREADABLE):
        return None


def completed(indexer: IndexerState | None) -> int:
    """The last sequence that a running indexer has completed; 0 when it is in the middle of one, or
    none runs: then the chunk files' own highest one counts.
    """
    return indexer.sequence if indexer is not None and indexer.state != "stopped" else 0
