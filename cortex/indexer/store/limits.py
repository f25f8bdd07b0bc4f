"""The limits that divide a run into shards, processes and steps. No behaviour."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run; lower ones let a few files take the paths of many."""

    #: files that share a shard, on average and at most: one saved file rewrites about 2 MB of chunk
    #: files
    shard_files: int = 96
    #: files and bytes of source below which starting processes (0.3 s) costs more than it saves
    pool_files: int = 200
    pool_bytes: int = 2 << 20
    #: bytes from which a file is read by a child, even if it is the only one: the risk of minutes
    #: or gigabytes grows with its size
    alone_bytes: int = 256 << 10
    #: files that a first run reads and publishes before all others; with fewer than twice as many
    #: files there is no order
    first_files: int = 200
    #: most children that build shards; 0: by the machine's cores
    children: int = 0
    #: files to resolve from which several processes do it; starting them costs as much as a hundred
    #: files
    resolve_files: int = 400
    #: seconds between two publications of finished shards during a long run; more when one takes
    #: over `flush_share` of that
    flush_s: float = 0.5
    #: share of a run's time for publishing: the manifest of 50 000 files has 10 MB
    flush_share: float = 1 / 30


LIMITS = Limits()
