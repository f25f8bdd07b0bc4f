"""Messages about units: whole definitions, and the pieces between them."""

from typing import Any

from msgspec import field

from cortex.system.arrays import Array
from ipc.messages.control import Blobs, Message, repeatable
from ipc.messages.search import Filters, Place

#: the signals of UnitSearch, in the order of `UnitHits.values`
UNIT_SIGNALS = ("body", "name", "owner", "signature")


@repeatable
class UnitSearch(Message, frozen=True):
    """Request to the text worker for the units with the best sum of BM25 over their fields: `limit`
    of shipped code, and `aside` of tests and of sections of documents.
    """

    query: str
    limit: int = 80
    filters: Filters = field(default_factory=Filters)
    generation: int = 0
    aside: int = 20


@repeatable
class UnitsAt(Message, frozen=True):
    """Request to the text worker for the units at `places`: all units of a file (`line` 0), or the
    one that holds the line. A place's `path` is exact; its `id` is ignored.
    """

    places: tuple[Place, ...]
    generation: int = 0


class UnitHits(Message, frozen=True):
    """Reply to UnitSearch, best first (code, then the others), and to UnitsAt, in the order of the
    places: n units.

    `values` float32 [len(names), n]: BM25 of each field, 0 for a field without a word of the query;
    UnitsAt has none (`names` is empty). `units`: JSON of each, without its empty fields: `path`,
    `start`, `end`, `head` (line at which the definition begins below its comments), `symbol`
    (`Owner.name`), `kind`, `signature`, `ranges` ([[first, last], …]: the lines of the unit, where
    other units inside are cut out) and `blocks` ([[first, last, depth], …] of a long one).
    """

    generation: int
    names: tuple[str, ...]
    values: Array
    units: Blobs


@repeatable
class MapSearch(Message, frozen=True):
    """Request to the text worker for the map of a prompt: its best units by words, in at most
    `max_bytes` of lines. `cortex-hook` sends it, which knows no other message.
    """

    query: str
    filters: Filters = field(default_factory=Filters)
    max_bytes: int = 800
    generation: int = 0


class UnitMap(Message, frozen=True):
    """Reply to MapSearch, best first: `file`, `start`, `end` and `name` of each unit."""

    generation: int
    entries: tuple[dict[str, Any], ...]
