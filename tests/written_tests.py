"""The names of all tests, for pages that name tests as their proof."""

import functools
import re
from pathlib import Path

_DEFINITION = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)


@functools.cache
def written_tests() -> frozenset[str]:
    """Return the name of each test function below this folder; no tree is made of the 600 files."""
    paths = Path(__file__).parent.rglob("test_*.py")
    return frozenset(name for path in paths for name in _DEFINITION.findall(path.read_text(encoding="utf-8")))
