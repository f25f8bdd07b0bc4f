"""Every message between processes, one frozen struct each. No I/O.

Fields of type `Array` are sent as raw frames (dtype and shape in the JSON), fields of type `Blobs`
as one raw frame each; all others as JSON. `repeatable` marks a message that may be sent again,
because doing it twice has the same result as once. docs/PROTOCOL.md describes each message; a test
compares both.
"""

from ipc.messages.control import (
    PROTOCOL,
    Answers,
    Blobs,
    Failure,
    GetStatus,
    Message,
    Reload,
    Several,
    Status,
)
from ipc.messages.graph import (
    GraphHits,
    GraphOperation,
    GraphSearch,
    NameSearch,
    OutlineSearch,
    PatternSearch,
)
from ipc.messages.memory import MemoryAnswer, MemoryCall
from ipc.messages.search import (
    NO_COUNTS,
    Among,
    Apart,
    Bring,
    Brought,
    Chunks,
    CountWords,
    Detail,
    Embed,
    Embedded,
    ExactHits,
    ExactSearch,
    Fetch,
    Filters,
    Locate,
    Located,
    MatchType,
    MeaningSearch,
    Mode,
    Place,
    Show,
    Shown,
    Spot,
    TextSignals,
    VectorSearch,
    WordCounts,
)
from ipc.messages.signals import Hit, Signals, signals_of
from ipc.messages.source import SourceLines, SourceTexts
from ipc.messages.units import UNIT_SIGNALS, MapSearch, UnitHits, UnitMap, UnitsAt, UnitSearch

__all__ = [
    "NO_COUNTS", "PROTOCOL", "UNIT_SIGNALS", "Among", "Answers", "Apart", "Blobs", "Bring",
    "Brought", "Chunks", "CountWords", "Detail", "Embed", "Embedded", "ExactHits", "ExactSearch",
    "Failure", "Fetch", "Filters", "GetStatus", "GraphHits", "GraphOperation", "GraphSearch",
    "Hit", "Locate", "Located", "MapSearch", "MatchType", "MeaningSearch", "MemoryAnswer",
    "MemoryCall", "Message", "Mode", "NameSearch", "OutlineSearch", "PatternSearch", "Place",
    "Reload", "Several", "Show", "Shown", "Signals", "SourceLines", "SourceTexts", "Spot",
    "Status", "TextSignals", "UnitHits", "UnitMap", "UnitSearch", "UnitsAt", "VectorSearch",
    "WordCounts", "signals_of",
]  # fmt: skip
