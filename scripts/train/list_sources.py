r"""A program that writes the list of repositories to train on, from git folders and their licences.

    python -m scripts.train.list_sources --clones DIR --exclude FILE \
        > scripts/train/repositories.tsv

Names each refused repository (excluded, no accepted licence, too large) on standard error.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from scripts.train.sources import Source, find_licence, git, list_files, read_excluded

#: bytes of the largest git folder that is taken
FOLDER_BYTES_MAX = 300_000_000
#: source files of the smallest repository that is taken
FILES_MIN = 1
#: repositories refused by hand: they hold parts of an excluded repository, or no code of their own
REFUSED = {"ohmybash/oh-my-bash", "alebcay/awesome-shell", "docker-library/official-images"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--exclude", type=Path, required=True)
    options = parser.parse_args()
    excluded = read_excluded(options.exclude) | REFUSED
    print("# repository\trevision\tlicence")
    for place in sorted(options.clones.iterdir(), key=lambda path: path.name.lower()):
        if not place.is_dir() or "+" not in place.name:
            continue
        source = Source(place.name.replace("+", "/", 1), "HEAD", "")
        try:
            print(*accept(source, options.clones, excluded), sep="\t", flush=True)
        except (ValueError, subprocess.CalledProcessError) as error:
            print(f"{source.name}: {error}", file=sys.stderr)


def accept(source: Source, clones: Path, excluded: set[str]) -> tuple[str, str, str]:
    """Return the line of a repository. Raises ValueError with the reason if it is refused."""
    folder = source.folder(clones)
    if source.name.lower() in excluded:
        raise ValueError("excluded")
    if sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) > FOLDER_BYTES_MAX:
        raise ValueError("too large")
    revision = git(folder, "rev-parse", "HEAD").strip()
    licence = find_licence(folder, revision)
    if not licence:
        raise ValueError("no accepted licence")
    if len(list_files(folder, revision)) < FILES_MIN:
        raise ValueError("too few source files")
    return source.name, revision, licence


if __name__ == "__main__":
    main()
