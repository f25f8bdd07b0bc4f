"""The indexer's progress, as it reports it, for publishing."""

import msgspec

from cortex.generation.damage import UNREADABLE
from cortex.settings.config import Config
from cortex.system import files
from cortex.terms.records import STATE_BYTES_MAX, IndexerState


def read_state(config: Config) -> IndexerState | None:
    """Return the indexer's report; None where none ever ran.

    Read it before the chunk files: then all files of a sequence that it has completed are on disk.
    """
    try:
        return msgspec.json.decode(files.read_ours(config.indexer_state, STATE_BYTES_MAX), type=IndexerState)
    except (OSError, *UNREADABLE):
        return None


def completed(indexer: IndexerState | None) -> int:
    """Return the last sequence that a running indexer has completed; 0 in the middle of a sequence,
    or when no indexer runs: then the highest sequence in the chunk files counts.
    """
    return indexer.sequence if indexer is not None and indexer.state != "stopped" else 0
