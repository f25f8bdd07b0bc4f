"""`cortex stats`: what was asked of a project, what it took, and what it spared."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import orjson

from cortex.front.cli.parser import Parser
from cortex.front.usage import DAYS, Call, noted
from cortex.settings import config as configuration
from cortex.settings.home import open_home
from cortex.system.terminal import in_line, shown
from ipc.errors import EXIT_OK

#: questions without a result that are shown, the most frequent first
QUESTIONS = 10


def declare(parser: Parser) -> None:
    parser.add_argument(
        "--days", type=int, default=DAYS, help=f"of so many days, today's among them (default: {DAYS})"
    )
    parser.add_argument("--json", dest="as_json", action="store_true", help="as JSON")


def stats(options: Namespace) -> int:
    config = configuration.load(options.project)
    if config.sealing:
        open_home(config)
    told = summed(list(noted(config, options.days)))
    if options.as_json:
        print(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
    else:
        print(shown("\n".join(_lines(told, kept=config.server.stats))))
    return EXIT_OK


def summed(calls: Sequence[Call]) -> dict[str, Any]:
    """By tool, the most called first, and over all; milliseconds and tokens."""
    by_tool: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        by_tool[call.tool].append(call)
    questions = Counter(call.question for call in calls if call.question)
    return {
        "tools": [
            {"tool": tool} | _figures(own)
            for tool, own in sorted(by_tool.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        ],
        "all": _figures(calls),
        "nothing_found": [
            {"question": one, "times": times} for one, times in questions.most_common(QUESTIONS)
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


def _lines(told: dict[str, Any], *, kept: bool) -> list[str]:
    lines = [] if kept else ["`server.stats` is off: nothing new is noted."]
    if not told["all"]["calls"]:
        return [*lines, "Nothing was asked of this project yet."]
    lines.append(
        f"{'tool':<22}{'calls':>7}{'failed':>8}{'p50 ms':>9}{'p95 ms':>9}{'tokens':>11}{'of files':>12}"
    )
    lines += [
        f"{in_line(row['tool']):<22}{row['calls']:>7}{row['failed']:>8}{row['p50_ms']:>9}{row['p95_ms']:>9}"
        f"{row['tokens']:>11,}{row['tokens_of_files']:>12,}"
        for row in [*told["tools"], {"tool": "all"} | told["all"]]
    ]
    lines.append("")
    lines.append(
        "tokens: of the answers; of files: what reading each file that an answer names would have taken."
    )
    if told["nothing_found"]:
        lines += ["", "Nothing was found for:"]
        lines += [f"{row['times']:>5} ×  {in_line(row['question'])}" for row in told["nothing_found"]]
    return lines
