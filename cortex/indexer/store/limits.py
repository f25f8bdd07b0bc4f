"""The numbers that decide how a run is divided: into shards, processes and steps. No behaviour."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run is divided by. With lower ones a few files go the ways that otherwise only many
    go.
    """

    #: files that share a shard, on average and at most: one saved file rewrites about 2 MB of chunk
    #: files
    shard_files: int = 96
    #: files and bytes of source under which starting processes (0.3 s) costs more than it saves
    pool_files: int = 200
    pool_bytes: int = 2 << 20
    #: bytes of a file from which it is read by a child, however little there is beside it: what can
    #: take minutes or gigabytes grows with its size
    alone_bytes: int = 256 << 10
    #: files that a first run reads and publishes before all others; one of fewer than twice as many
    #: has no order
    first_files: int = 200
    #: children that build shards, at most; 0: as the machine has cores
    children: int = 0
    #: files to resolve from which several processes do it; starting them takes as long as a hundred
    resolve_files: int = 400
    #: files of a project that is not kept in memory here while other processes resolve it, nor
    #: after that
    kept_files: int = 10_000
    #: seconds between two publications of finished shards during a long run; more where one takes
    #: over `flush_share` of that
    flush_s: float = 0.5
    #: part of a run's time that publishing may take: the manifest of 50 000 files has 10 MB
    flush_share: float = 1 / 30


LIMITS = Limits()
