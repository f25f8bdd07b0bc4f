"""Trees put together from the sources of projects, to be indexed: for benchmarks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from exact import compose
from product import served, surroundings

from cortex.settings.config import Config


def plant(sources: Sequence[Path], root: Path, files: int) -> None:
    """`files` files from the folders in `sources`, of each its share; where they are too few,
    copies of all until they are enough.
    """
    with tempfile.TemporaryDirectory(prefix="cortex-bench-") as together:
        for folder in (each for source in sources for each in _parts(source.resolve())):
            place = Path(together) / folder.name
            if place.is_symlink():  # as many projects have a `docs`
                place = Path(together) / f"{folder.parent.name}-{folder.name}"
            place.symlink_to(folder)
        made, copies = compose(Path(together), root, files), 1
        while 0 < made < files:
            copies += 1
            more = compose(Path(together), root / f"copy_{copies}", files - made)
            made += more
        if not made:
            raise SystemExit(f"{', '.join(map(str, sources))} hold no sources")


def _parts(source: Path) -> list[Path]:
    """The folders in `source`; itself where it has none but git's."""
    return [one for one in source.iterdir() if one.is_dir() and one.name != ".git"] or [source]


@contextmanager
def kept(sources: Sequence[Path], files: int, folder: Path) -> Iterator[Config]:
    """The settings of a project of such files, in `surroundings` of its own. What `folder` holds of
    an earlier time is used again: the tree, and its index.
    """
    root = folder.resolve() / "tree"
    with surroundings(folder.resolve() / "home"):
        if not root.exists():
            root.mkdir(parents=True)
            plant(sources, root, files)
        with served(root) as config:
            yield config


@contextmanager
def planted(sources: Sequence[Path], files: int) -> Iterator[Config]:
    """The same in a folder that is removed in the end."""
    with (
        tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder,
        kept(sources, files, Path(folder)) as config,
    ):
        yield config
