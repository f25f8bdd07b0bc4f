"""`cortex stats`: the calls of a project, their latency and tokens, and the tokens that they
saved.
"""

from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import orjson

from cortex.front.cli.parsing.parser import Parser
from cortex.front.cli.rendering import columns
from cortex.front.usage import DAYS, Call, read_calls
from cortex.settings import config as configuration
from cortex.settings.folders.home import open_home
from cortex.system.errors import EXIT_OK
from cortex.system.terminal import escape_in_line, print_text

#: questions without a result that are listed, the most frequent first
QUESTIONS = 10


def declare(parser: Parser) -> None:
    parser.add_argument(
        "--days", type=int, default=DAYS, help=f"days to count, including today (default: {DAYS})"
    )
    parser.add_flag("--json", help="print JSON", dest="as_json")


def stats(options: Namespace) -> int:
    config = configuration.load(options.project)
    if config.sealing:
        open_home(config)
    summary = summarise(list(read_calls(config, options.days)))
    if options.as_json:
        print(orjson.dumps(summary, option=orjson.OPT_INDENT_2).decode())
    else:
        print_text("\n".join(_lines(summary, is_noted=config.server.stats)))
    return EXIT_OK


def summarise(calls: Sequence[Call]) -> dict[str, Any]:
    """Return figures by tool, the most called first, and for all; in milliseconds and tokens."""
    by_tool: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        by_tool[call.tool].append(call)
    questions = Counter(call.question for call in calls if call.question)
    return {
        "tools": [
            {"tool": tool} | _figures(tool_calls)
            for tool, tool_calls in sorted(by_tool.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        ],
        "all": _figures(calls),
        "nothing_found": [
            {"question": question, "times": times} for question, times in questions.most_common(QUESTIONS)
        ],
    }


def _figures(calls: Sequence[Call]) -> dict[str, Any]:
    took = sorted(call.ms for call in calls)
    return {
        "calls": len(calls),
        "failed": sum(call.code != "ok" for call in calls),
        "nothing_found": sum(bool(call.question) for call in calls),
        "p50_ms": took[len(took) // 2] if took else None,
        "p95_ms": took[min(len(took) - 1, 19 * len(took) // 20)] if took else None,
        "tokens": sum(call.tokens for call in calls),
        "tokens_of_files": sum(call.files for call in calls),
    }


def _lines(summary: dict[str, Any], *, is_noted: bool) -> list[str]:
    lines = [] if is_noted else ["`server.stats` is off: calls are not counted."]
    if not summary["all"]["calls"]:
        return [*lines, "This project has no calls yet."]
    rows: list[tuple[str, ...]] = [("tool", "calls", "failed", "p50 ms", "p95 ms", "tokens", "whole files")]
    for row in [*summary["tools"], {"tool": "all"} | summary["all"]]:
        numbers = (row["calls"], row["failed"], row["p50_ms"], row["p95_ms"])
        tokens = (f"{row['tokens']:,}", f"{row['tokens_of_files']:,}")
        rows.append((escape_in_line(row["tool"]), *map(str, numbers), *tokens))
    lines += [*columns.table(rows, range(1, len(rows[0])), headed=True), ""]
    lines.append(
        columns.folded(
            "tokens: those of the answers; whole files: those of all files that the answers name, read as a whole.",
            0,
        )
    )
    if summary["nothing_found"]:
        lines += ["", "Nothing was found for:"]
        lines += [
            f"{row['times']:>5} ×  {columns.folded(escape_in_line(row['question']), 9)}"
            for row in summary["nothing_found"]
        ]
    return lines
