"""Tool answers for programs: places as JSON lines. People read the text of cortex.front.text."""

from __future__ import annotations

from typing import Any

import orjson

from cortex.front.text.code import metadata_of


def print_jsonl(answer: dict[str, Any]) -> None:
    """Print the places of results as JSON lines; notes have no place."""
    for result in (result for result in answer["results"] if "chunk" in result):
        metadata = metadata_of(result)
        start = metadata.get("start_line") or 1
        place = {
            "file": metadata.get("file_path", ""),
            "start": start,
            "end": metadata.get("end_line") or start,
            "score": result.get("combined_score", result.get("score", 0.0)),
        }
        project = {"project": result["project"]} if "project" in result else {}
        print(orjson.dumps(project | place).decode())
