"""Trees put together from the sources of projects, to be indexed: for benchmarks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from exact import compose
from product import isolated_environment, open_project

from cortex.settings.config import Config


def plant(sources: Sequence[Path], root: Path, files: int) -> None:
    """`files` files from the folders in `sources`, of each its share; where they are too few,
    copies of all until they are enough.
    """
    with tempfile.TemporaryDirectory(prefix="cortex-bench-") as together:
        for folder in (child for source in sources for child in _child_folders(source.resolve())):
            place = Path(together) / folder.name
            if place.is_symlink():  # as many projects have a `docs`
                place = Path(together) / f"{folder.parent.name}-{folder.name}"
            place.symlink_to(folder)
        copied, copies = compose(Path(together), root, files), 1
        while 0 < copied < files:
            copies += 1
            more = compose(Path(together), root / f"copy_{copies}", files - copied)
            copied += more
        if not copied:
            raise SystemExit(f"{', '.join(map(str, sources))} hold no sources")


def _child_folders(source: Path) -> list[Path]:
    """The folders in `source`; itself where it has none but git's."""
    return [child for child in source.iterdir() if child.is_dir() and child.name != ".git"] or [source]


@contextmanager
def keep_tree(sources: Sequence[Path], files: int, folder: Path) -> Iterator[Config]:
    """The settings of a project of such files, in `surroundings` of its own. What `folder` holds of
    an earlier time is used again: the tree, and its index.
    """
    root = folder.resolve() / "tree"
    with isolated_environment(folder.resolve() / "home"):
        if not root.exists():
            root.mkdir(parents=True)
            plant(sources, root, files)
        with open_project(root) as config:
            yield config


@contextmanager
def temporary_tree(sources: Sequence[Path], files: int) -> Iterator[Config]:
    """The same in a folder that is removed in the end."""
    with (
        tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder,
        keep_tree(sources, files, Path(folder)) as config,
    ):
        yield config
