"""Checks of a release: `scripts/release.py v1.2.3`, in a clone with all tags, and, before files are
published, `scripts/release.py name OWNER/REPOSITORY [--first]`.

The tag must be the version in the code, and higher than every earlier tag. The project on the index
must have been published by this repository: its newest file has a statement of that (PEP 740),
which the index verified. With `--first` the name must be free. RELEASE_INDEX is the address of the
index's simple pages.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
#: the variable with the address of the index's pages, and their form (PEP 691)
INDEX = "RELEASE_INDEX"
_FORM = "application/vnd.pypi.simple.v1+json"
#: seconds for a page of the index
_PAGE_S = 30

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


def fault_of_name(name: str, repository: str, index: str, *, first: bool = False) -> str:
    """Return why `repository` may not publish the project `name`, "" if it may. Raises OSError."""
    if not index:
        return f"{INDEX} is not set: it is the address of the simple pages of the index."
    try:
        files = _page(f"{index}/{name}/", _FORM).get("files", [])
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise
        free = f"The name {name} is nobody's. Add a pending publisher for {repository} there, then release"
        return "" if first else f"{free} with the variable FIRST_RELEASE=true."
    if first:
        return f"The name {name} is taken already; remove the variable FIRST_RELEASE, if it is yours."
    newest = max(files, key=lambda file: file.get("upload-time", ""), default={})
    statement = newest.get("provenance")
    bundles = _page(statement, "application/json").get("attestation_bundles", []) if statement else []
    publishers = {bundle["publisher"].get("repository") for bundle in bundles}
    if publishers == {repository}:
        return ""
    by = ", ".join(sorted(map(str, publishers))) or "nobody who can be verified"
    return f"The project {name} was published by {by}, not by {repository}: the name is somebody else's."


def _page(url: str, form: str) -> dict[str, Any]:
    request = urllib.request.Request(url, headers={"Accept": form})
    with urllib.request.urlopen(request, timeout=_PAGE_S) as answer:
        page: dict[str, Any] = json.load(answer)
    return page


def _check_tag(tag: str) -> int:
    match = _VERSION.search((ROOT / "cortex" / "__init__.py").read_text(encoding="utf-8"))
    version = match[1] if match else ""
    listed = subprocess.run(["git", "tag", "--list"], cwd=ROOT, capture_output=True, text=True, check=True)
    return _report(fault(tag, version, listed.stdout.split()), f"{tag} may be released.")


def _check_name(repository: str, *, first: bool) -> int:
    name = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    index = os.environ.get(INDEX, "").rstrip("/")
    return _report(fault_of_name(name, repository, index, first=first), f"{repository} may publish {name}.")


def _report(message: str, approval: str) -> int:
    print(message or approval, file=sys.stderr if message else sys.stdout)
    return 1 if message else 0


def main(words: Sequence[str]) -> int:
    match words:
        case ["name", repository, *options] if options in ([], ["--first"]):
            return _check_name(repository, first=bool(options))
        case [tag]:
            return _check_tag(tag)
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
