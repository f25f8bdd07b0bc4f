"""Trees for benchmarks, copied from the sources of projects."""

import itertools
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from product import isolated_environment, open_project

from cortex.settings.config import Config

#: endings of the files in a tree: source and documents
SUFFIXES = frozenset(
    ".py .go .rs .java .ts .tsx .js .c .h .cc .cpp .hpp .cs .rb .php .swift .kt .scala .hs .lua .ex "
    ".zig .sh .md .rst".split()
)
FILE_BYTES_MAX = 1_000_000


def compose(sources: Path, target: Path, count: int) -> int:
    """Copy `count` files from the folders in `sources`, from each in turn, so that all have a
    share.
    """
    listed = [sorted(_files_of(folder)) for folder in sorted(sources.iterdir()) if folder.is_dir()]
    selection = itertools.islice(
        (path for paths in itertools.zip_longest(*listed) for path in paths if path is not None), count
    )
    copied = 0
    for path in selection:
        copy = target / path.relative_to(sources)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        copied += 1
    return copied


def _files_of(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.suffix not in SUFFIXES or path.is_symlink() or ".cortex" in path.parts:
            continue
        if path.is_file() and 0 < path.stat().st_size <= FILE_BYTES_MAX:
            yield path


def plant(sources: Sequence[Path], root: Path, files: int) -> None:
    """Copy `files` files from the folders in `sources`, a share of each.

    If they are too few, copies of all are added until they are enough.
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
    """Return the folders in `source`; itself if it has none but git's."""
    return [child for child in source.iterdir() if child.is_dir() and child.name != ".git"] or [source]


@contextmanager
def keep_tree(sources: Sequence[Path], files: int, folder: Path) -> Iterator[Config]:
    """Yield the settings of a project of such files, in an isolated environment.

    A tree and an index of an earlier run in `folder` are used again.
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
    """Do the same in a folder that is removed in the end."""
    with (
        tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder,
        keep_tree(sources, files, Path(folder)) as config,
    ):
        yield config
