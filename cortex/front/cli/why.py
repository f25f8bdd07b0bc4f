"""`cortex why`: why a file is indexed or not, and its rank for a question."""

import os
import posixpath
import re
from typing import Any

import orjson

from cortex.ask.freshness import Freshness
from cortex.front.cli.parsing.generated import Folders, ask_workers
from cortex.front.tools import TOOLS
from cortex.ranking.traces import KNOWN_ENDINGS
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.folders.home import open_home
from cortex.system.errors import EXIT_NOTHING, EXIT_OK
from cortex.system.folders import path_names
from cortex.system.terminal import print_text
from cortex.terms.text.spelling import nearest_paths

#: the end of a source file's name
_ENDING = re.compile(rf"\.{KNOWN_ENDINGS}$", re.IGNORECASE)
#: results in which the file is searched
DEPTH = 50
#: files, and signals of each, in the explanation of a question
FILES_TOLD, SIGNALS_TOLD = 10, 6


def say_why(project: str | None, what: str, question: str) -> int:
    """Print the reason; return EXIT_NOTHING for a file that is not indexed or not there."""
    config = configuration.load(project)
    if config.sealing:
        open_home(config)
    freshness = Freshness(config)
    path = _resolve_path(config, freshness, what)
    if not path:
        return _say_ranking(config, " ".join(filter(None, (what, question))))
    code = _say_file(config, freshness, path)
    return _say_place(config, question, path) if question and code == EXIT_OK else code


def _resolve_path(config: Config, freshness: Freshness, what: str) -> str:
    """Return the project's file that the words mean, relative to its root; "" for a question."""
    for full in (os.path.abspath(what), os.path.normpath(config.folder / what)):
        if os.path.lexists(full) and (path := path_names.inside(full, str(config.root))):
            return path
    indexed_paths = freshness.listed()
    if what in indexed_paths:
        return what
    # The id of a chunk: its kind, its file, and its position in the file.
    name = what.partition("#")[0].partition("-")[2]
    names = [name[at:] for at in range(len(name)) if at == 0 or name[at - 1] == "-"]
    path = next((suffix for suffix in names if suffix in indexed_paths), "")
    return path or (what if _is_file_name(what) else "")


def _is_file_name(words: str) -> bool:
    """Return whether words that name no file of the project can be nothing else: a path, or a name
    with the ending of source files (`app.py`, and not `Session.close`).
    """
    if " " in words:
        return False
    return "/" in words or _ENDING.search(words) is not None


def _say_file(config: Config, freshness: Freshness, path: str) -> int:
    from cortex.indexer.scan import Scanner
    from cortex.indexer.store import manifest

    scanner = Scanner(config)
    if why := scanner.exclusion_reason(path):
        near = [] if os.path.lexists(config.root / path) else nearest_paths(path, freshness.listed())
        suffix = f" Nearest: {', '.join(near)}." if near else ""
        print_text(f"{path} is not indexed: {why}.{suffix}")
        return EXIT_NOTHING
    if (config.root / path).is_dir():
        print_text(f"{path}/ is a folder whose files are indexed; name one of them.")
        return EXIT_OK
    entry = manifest.load(config.manifest).files.get(path)
    generation = freshness.current()
    if entry is None:
        print_text(f"{path} is to be indexed, and was not read yet; see `cortex status`.")
        return EXIT_NOTHING
    if entry.skipped or not entry.chunks:
        print_text(f"{path} was read and is not searched: {entry.skipped or 'it holds no text'}.")
        return EXIT_NOTHING
    chunks = f"{entry.chunks} {'chunk' if entry.chunks == 1 else 'chunks'}"
    served = f"generation {generation.number} is served" if generation.number else "nothing is served yet"
    print_text(f"{path} is indexed: {chunks} of {entry.size} bytes; {served}.")
    if why := scanner.inclusion_reason(path):
        print_text(f"  It is taken in: {why}.")
    for remark in entry.remarks:
        print_text(f"  {remark}")
    if path in freshness.pending(generation):
        print("  It was saved since, and is about to be indexed.")
    elif freshness.stale([path], generation):
        print("  It differs from what is indexed: run `cortex index`, or start a front, which follows it.")
    return EXIT_OK


def _search(config: Config, question: str) -> list[dict[str, Any]]:
    tool = TOOLS["cortex_search"]
    arguments = {"query": question, "limit": DEPTH, "detail": "location", "explain": True}
    answer = orjson.loads(ask_workers(tool, arguments, Folders(str(config.folder))))
    return list(answer["results"])


def _file_of(result: dict[str, Any]) -> str:
    return str(result["chunk"]["metadata"].get("file_path", ""))


def _say_ranking(config: Config, question: str) -> int:
    results = _search(config, question)
    for rank, result in enumerate(results[:FILES_TOLD], 1):
        _say_result(rank, result)
    return EXIT_OK if results else EXIT_NOTHING


def _say_place(config: Config, question: str, path: str) -> int:
    results = _search(config, question)
    for rank, result in enumerate(results, 1):
        if posixpath.normpath(posixpath.join(config.subfolder, _file_of(result))) == path:
            if rank > 1:
                print(f"{rank - 1} {'result is' if rank == 2 else 'results are'} before it; the first:")
                _say_result(1, results[0])
            _say_result(rank, result)
            return EXIT_OK
    print_text(f"{question!r} does not find it among the first {len(results)} results; the first:")
    for result in results[:1]:
        _say_result(1, result)
    return EXIT_NOTHING


def _say_result(rank: int, result: dict[str, Any]) -> None:
    explanation = result["explain"]
    terms = sorted(explanation["signals"].items(), key=lambda term: -abs(term[1]["points"]))
    parts = [f"{name} {signal['points']:+.2f}" for name, signal in terms[:SIGNALS_TOLD] if signal["points"]]
    where = f"{_file_of(result)}:{result['chunk']['metadata'].get('start_line', 1)}"
    print_text(
        f"{rank:>3}. {where}  {explanation['score']:.2f} = {explanation['base']:.2f} {' '.join(parts)}"
    )
