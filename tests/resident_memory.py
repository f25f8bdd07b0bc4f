"""What of a file counts as memory of this process, as Linux tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

SMAPS = Path("/proc/self/smaps")
#: for a test of it
told = pytest.mark.skipif(not SMAPS.exists(), reason="only Linux tells what of a file is mapped")


def resident(path: Path) -> int:
    """Bytes of the file that are mapped and in memory, in all places where it is mapped."""
    lines = iter(SMAPS.read_text().splitlines())
    found = 0
    for line in lines:
        if line.endswith(f" {path}"):
            found += 1024 * int(next(one for one in lines if one.startswith("Rss:")).split()[1])
    return found
