"""A check that a tag may be released: `scripts/release.py v1.2.3`, in a clone with all tags.

The tag must be the version in the code, and higher than every earlier tag.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent

_TAG = re.compile(r"v(\d+)\.(\d+)\.(\d+)")
_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)


def number(tag: str) -> tuple[int, ...]:
    """Return (1, 2, 3) for `v1.2.3`, and () for a tag without a version."""
    match = _TAG.fullmatch(tag)
    return tuple(map(int, match.groups())) if match else ()


def fault(tag: str, version: str, tags: Iterable[str]) -> str:
    """Return why `tag` may not be released, "" if it may.

    `version` is the version in the code, `tags` are all earlier tags.
    """
    if not number(tag):
        return f"{tag!r} is no version: a release is tagged v1.2.3."
    if tag != f"v{version}":
        return f"The tag is {tag}, but the code is version {version} (cortex/__init__.py)."
    highest = max(
        (other_tag for other_tag in tags if number(other_tag) and other_tag != tag), key=number, default=""
    )
    if highest and number(highest) >= number(tag):
        return f"{tag} is not higher than the existing tag {highest}."
    return ""


def main(tag: str) -> int:
    match = _VERSION.search((ROOT / "cortex" / "__init__.py").read_text(encoding="utf-8"))
    version = match[1] if match else ""
    listed = subprocess.run(["git", "tag", "--list"], cwd=ROOT, capture_output=True, text=True, check=True)
    message = fault(tag, version, listed.stdout.split())
    print(message or f"{tag} may be released.", file=sys.stderr if message else sys.stdout)
    return 1 if message else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) == 2 else ""))
