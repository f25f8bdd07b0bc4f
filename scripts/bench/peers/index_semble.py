"""The time that semble takes to index a folder: index_semble.py FOLDER MODEL prints a line of JSON.

All kinds of content that it supports, because Cortex indexes them too.
"""

from __future__ import annotations

import json
import sys
import time

started = time.perf_counter()

from semble import ContentType, SembleIndex  # noqa: E402 - a user waits for the import, too

imported = time.perf_counter()
index = SembleIndex.from_path(sys.argv[1], content=list(ContentType), model_path=sys.argv[2] or None)
stats = index.stats
print(
    json.dumps(
        {
            "seconds": time.perf_counter() - imported,
            "import_s": imported - started,
            "files": getattr(stats, "indexed_files", None),
            "chunks": getattr(stats, "total_chunks", None),
        }
    )
)
