"""First looks by program, without an agent: the gold that they show, and their tokens.

    scripts/bench/agents/first_looks.py --work DIR [--system NAME …] [--task ID …] [--json]

rg: the question's rarest words by ripgrep, one call; of a "breaks" task the first name that it
quotes. search, explore: `cortex_search` and `cortex_explore` with the question, as an agent's
client gets them. codegraph: `codegraph_explore`. seen: gold places of which a line is shown. whole:
places that are shown to nine tenths. named: places that the output names as an answer would. first,
five, ten: tasks with a gold place among the first 1, 5, 10 places that the output names.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "agents")]

from arm import OUTPUT_CHARS_MAX, run_shell  # noqa: E402 - scripts are no package
from arms import call, count_tokens, tree_of  # noqa: E402
from gold import check_seal  # noqa: E402
from records import KINDS, Named, Task, is_hit, read_tasks  # noqa: E402
from report import begin, make_parser, print_machine, print_table, write  # noqa: E402
from shown import lines_of, shown_lines  # noqa: E402

#: words of questions that say nothing about code
STOP_WORDS = frozenset(
    "about after again all also and another any are because been before being between both "
    "but can cannot come could did does done each effect else every find fix fixes fixed "
    "for from gets give given had has have here how instead into its just like made make "
    "makes many more most much must name names need not now off one only onto option "
    "options other over overview place places same say says should some such take takes "
    "than that the their them then there these they this through turn turned two under "
    "until use used uses using value values what when where whether which while who will "
    "with without would yet you your allow allowing avoid change changes code cover "
    "support tests introduce module handle handled implement look looks ".split()
)
#: words of a question that ripgrep is asked for, and printed lines
WORDS, LINES_MAX = 3, 60
#: share of a place's lines from which it counts as shown whole: blank lines and braces have no text
WHOLE_SHARE = 0.9
#: a place in an output: `path:12-30`, `path:12`, or JSON's "path": …, "start_line": 12
_PLACE = re.compile(r"([\w@./+-]+\.\w+):(\d+)(?:-(\d+))?")
#: the same in JSON
_JSON_PLACE = re.compile(
    r'"(?:path|file|file_path)":\s*"([^"]+)"[^{}]*?"(?:start_line|start|line)":\s*(\d+)'
    r'(?:,\s*"(?:end_line|end)":\s*(\d+))?'
)
#: a name that the question quotes
_QUOTED = re.compile(r"`([\w.]+)")

Answer = tuple[str, Sequence[str]]


def rarest(question: str, tree: Path) -> list[str]:
    """Return the question's words that fewest lines of the tree hold, rarest first."""
    words = dict.fromkeys(re.findall(r"[A-Za-z_]\w{3,}", question))
    counts = {}
    for word in words:
        if word.lower() not in STOP_WORDS:
            done = subprocess.run(
                ["rg", "--no-config", "--count-matches", "--no-filename", "-i", "-F", "-e", word, "."],
                cwd=tree,
                check=False,
                capture_output=True,
                text=True,
            )
            counts[word] = sum(map(int, done.stdout.split()))
    ranked = sorted((count, word) for word, count in counts.items() if count)
    return [word for _, word in ranked[:WORDS]]


def ask_rg(task: Task, work: Path) -> Answer:
    tree = tree_of(work, "rg", task.repo, task.revision)
    quoted = _QUOTED.search(task.question)
    if task.kind == "breaks" and quoted:
        options = ["-w", "-F", "-e", quoted[1].rpartition(".")[2]]
    else:
        words = rarest(task.question, tree) or [task.question]
        options = ["-i", "-F", *(part for word in words for part in ("-e", word))]
    command = ["rg", "-n", "--sort=path", "--max-columns=200", *options, "."]
    output, _ = run_shell(command, tree)
    return "\n".join(output.split("\n")[:LINES_MAX]), command


def ask_tool(arm: str, tool: str) -> Callable[[Task, Path], Answer]:
    def ask(task: Task, work: Path) -> Answer:
        tree = tree_of(work, arm, task.repo, task.revision)
        output, _ = asyncio.run(call(arm, work.resolve(), tree, tool, {"query": task.question}))
        return output, [tool, task.question]

    return ask


SYSTEMS: dict[str, tuple[str, Callable[[Task, Path], Answer]]] = {
    "rg": ("rg", ask_rg),
    "search": ("cortex", ask_tool("cortex", "cortex_search")),
    "explore": ("cortex", ask_tool("cortex", "cortex_explore")),
    "codegraph": ("codegraph", ask_tool("codegraph", "codegraph_explore")),
}


def named_places(output: str) -> list[Named]:
    """Return the places that an output names, in its order."""
    matches = [
        (match.start(), Named(match[1].removeprefix("./"), int(match[2]), int(match[3] or match[2])))
        for pattern in (_PLACE, _JSON_PLACE)
        for match in pattern.finditer(output)
    ]
    return list(dict.fromkeys(place for _, place in sorted(matches, key=lambda row: row[0])))


def look(task: Task, output: str, command: Sequence[str], tree: Path) -> dict[str, int]:
    """Return the figures of one output, without its tokens."""
    lines = lines_of(shown_lines(output, command, tree))
    places = named_places(output)
    gold_lines = [{(gold.file, number) for number in range(gold.start, gold.end + 1)} for gold in task.gold]
    rank = next(
        (at for at, place in enumerate(places) if any(is_hit(task.kind, gold, place) for gold in task.gold)),
        None,
    )
    return {
        "gold": len(task.gold),
        "seen": sum(bool(place & lines) for place in gold_lines),
        "whole": sum(len(place & lines) >= WHOLE_SHARE * len(place) for place in gold_lines),
        "named": sum(any(is_hit(task.kind, gold, place) for place in places) for gold in task.gold),
        "first": int(rank == 0),
        "five": int(rank is not None and rank < 5),
        "ten": int(rank is not None and rank < 10),
    }


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--system", action="append", default=[], choices=SYSTEMS, help="may be repeated")
    parser.add_argument("--task", action="append", default=[], help="may be repeated; default: all")
    options = parser.parse_args()
    check_seal()
    tasks = [task for task in read_tasks() if not options.task or task.id in options.task]
    rows: dict[str, dict[str, dict[str, int]]] = {}
    for name in options.system or SYSTEMS:
        arm, ask = SYSTEMS[name]
        outputs = [ask(task, options.work) for task in tasks]
        tokens = count_tokens([output[:OUTPUT_CHARS_MAX] for output, _ in outputs])
        rows[name] = {}
        for task, (output, command), count in zip(tasks, outputs, tokens, strict=True):
            tree = tree_of(options.work, arm, task.repo, task.revision)
            rows[name][task.id] = look(task, output[:OUTPUT_CHARS_MAX], command, tree) | {"tokens": count}
    figures = begin("first-looks")
    print_machine(figures)
    sums: dict[str, Any] = {}
    for kind in KINDS:
        chosen = [task.id for task in tasks if task.kind == kind]
        table: dict[str, dict[str, int]] = defaultdict(dict)
        for name, cells in rows.items():
            for key in ("gold", "seen", "whole", "named", "first", "five", "ten", "tokens"):
                table[name][key] = sum(cells[task][key] for task in chosen)
        if chosen:
            keys = list(next(iter(table.values())))
            print_table(
                [f"{kind} ({len(chosen)})", *keys], [[name, *cells.values()] for name, cells in table.items()]
            )
            print()
        sums[kind] = table
    if options.json:
        write(figures | {"kinds": sums, "tasks": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
