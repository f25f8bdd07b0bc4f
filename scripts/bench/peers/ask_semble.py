"""semble with the model in a folder: a question a line on standard input, a JSON list of places a
line out.

ask_semble.py FOLDER MODEL. Its defaults: code files, both lanes, its ranking.
"""

from __future__ import annotations

import json
import sys

from semble import SembleIndex

CHUNKS = 10


def main() -> None:
    index = SembleIndex.from_path(sys.argv[1], model_path=sys.argv[2] if len(sys.argv) > 2 else None)
    print("ready", flush=True)
    for line in sys.stdin:
        hits = [result.chunk for result in index.search(json.loads(line), top_k=CHUNKS)]
        rows = [{"file": hit.file_path, "start": hit.start_line, "end": hit.end_line} for hit in hits]
        print(json.dumps(rows), flush=True)


if __name__ == "__main__":
    main()
