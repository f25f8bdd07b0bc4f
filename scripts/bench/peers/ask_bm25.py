"""BM25 over windows of lines, by the library bm25s: a question a line on standard input, a JSON
list of places a line out.

ask_bm25.py FOLDER. Words are cut by bm25s, with its default weighting; each file occurs once, with
its best window.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bm25s

WINDOW_LINES = 50
FILE_BYTES_MAX = 1024 * 1024
#: windows of a search, so that ten files are among them
WINDOWS = 200
FILES = 10


def windows(folder: Path):
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_symlink() or path.stat().st_size > FILE_BYTES_MAX:
            continue
        raw = path.read_bytes()
        if b"\0" in raw[:8000] or ".cortex" in path.parts or ".git" in path.parts:
            continue
        lines = raw.decode("utf-8", "replace").split("\n")
        for start in range(0, len(lines), WINDOW_LINES):
            window = lines[start : start + WINDOW_LINES]
            yield path.relative_to(folder).as_posix(), start + 1, start + len(window), "\n".join(window)


def main() -> None:
    chunks = list(windows(Path(sys.argv[1])))
    index = bm25s.BM25()
    index.index(bm25s.tokenize([text for *_, text in chunks], show_progress=False), show_progress=False)
    print("ready", flush=True)
    for line in sys.stdin:
        words = bm25s.tokenize(json.loads(line), show_progress=False)
        places, scores = index.retrieve(words, k=min(WINDOWS, len(chunks)), show_progress=False)
        best: dict[str, dict[str, object]] = {}
        for at, score in zip(places[0].tolist(), scores[0].tolist(), strict=True):
            file, start, end, _ = chunks[at]
            if score > 0:
                best.setdefault(file, {"file": file, "start": start, "end": end})
        print(json.dumps(list(best.values())[:FILES]), flush=True)


if __name__ == "__main__":
    main()
