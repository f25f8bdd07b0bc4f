"""The memory that a mapped file takes in this process, from Linux's smaps."""

from __future__ import annotations

from pathlib import Path

import pytest

SMAPS = Path("/proc/self/smaps")
#: for a test of it
needs_smaps = pytest.mark.skipif(not SMAPS.exists(), reason="only Linux tells what of a file is mapped")


def resident(path: Path) -> int:
    """Return the bytes of the file that are mapped and in memory, in all places where it is
    mapped.
    """
    lines = iter(SMAPS.read_text().splitlines())
    total = 0
    for line in lines:
        if line.endswith(f" {path}"):
            total += 1024 * int(
                next(rss_line for rss_line in lines if rss_line.startswith("Rss:")).split()[1]
            )
    return total
