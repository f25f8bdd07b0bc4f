"""A benchmark of the cost of answers about structure, and of names as people write them.

    scripts/bench/graph_answers.py DIR [DIR …] [--names 60] [--seed 1] [--json]

DIR are folders of projects; their indexes are made in a cache that is removed in the end. Each
operation runs through the MCP server on the same definitions, drawn from the outline of the
project, without the lines around the results and with them. tokens: bytes / 4, of the results alone
and of whole answers that have some. notations: a definition's name as its language, paths and
agents write it; found: the answer is about that definition; offered: it is in the answer's list of
candidates.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
from product import Front, connect, isolated_environment, wait_until_indexed
from report import Figures, add_json, begin, print_machine, print_table, write

from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.terms.ids import stem_of, strip_overload

OPERATIONS = ("callers", "callees", "implementations")
TOKEN_BYTES = 4
_COLUMNS = ("results", "tokens_a_result", "with_context", "with_the_answer")
#: tokens of the outline from which definitions are drawn
OUTLINE_TOKENS = 30_000
#: how languages join the parts of a name, by ending
_JOINTS = {"rs": "::", "php": "::", "cpp": "::", "rb": "#"}


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition as in the outline."""

    path: str
    name: str
    line: int

    @property
    def id(self) -> str:
        return f"{stem_of(self.path)}:{self.name}"

    def notations(self) -> Iterator[tuple[str, str]]:
        """Yield (notation, the name in it)."""
        owner, dot, last = self.name.rpartition(".")
        ending = self.path.rpartition(".")[2]
        yield "id", self.id
        yield "path:name", f"{self.path}:{self.name}"
        yield "path:line", f"{self.path}:{self.line}"
        yield "name", self.name
        if not dot:
            return
        yield "its language's joints", self.name.replace(".", _JOINTS.get(ending, "."))
        yield "Type.name(args)", f"{self.name}(first, second)"
        yield "folder.Type.name", f"{Path(self.path).parent.name or Path(self.path).stem}.{self.name}"
        if ending == "go":
            yield "(*Type).name", f"(*{owner}).{last}"
        if ending == "rs" and "src" in Path(self.path).parts:
            folders = Path(self.path).with_suffix("").parts
            modules = folders[folders.index("src") + 1 :]
            yield "crate::module::Type::name", "::".join(["crate", *modules, *self.name.split(".")])


async def sample_definitions(front: Front, names: int, seed: int) -> list[Definition]:
    reply = await front.call("cortex_outline", max_tokens=OUTLINE_TOKENS)
    outlined = {
        Definition(file["file"], symbol["name"], symbol["lines"][0])
        for file in reply["results"]
        for symbol in file.get("symbols", ())
    }
    every = sorted(outlined, key=lambda definition: (definition.path, definition.line, definition.name))
    return random.Random(seed).sample(every, min(names, len(every)))


async def measure_costs(front: Front, sample: list[Definition]) -> Figures:
    """Return for each operation: results, their tokens, and tokens of the answers for each
    result.
    """
    figures: Figures = {}
    for operation in OPERATIONS:
        row_bytes, answer_bytes, context_bytes, results, spent = 0, 0, 0, 0, Counter[str]()
        for definition in sample:
            answer = await front.call(
                "cortex_graph", operation=operation, target=definition.id, include_context=False
            )
            if not answer["results"]:
                continue
            more = await front.call(
                "cortex_graph", operation=operation, target=definition.id, include_context=True
            )
            context_bytes += sum(len(orjson.dumps(row)) + 1 for row in more["results"])
            results += len(answer["results"])
            answer_bytes += len(orjson.dumps(answer))
            for row in answer["results"]:
                row_bytes += len(orjson.dumps(row)) + 1
                spent.update({name: len(orjson.dumps({name: value})) - 1 for name, value in row.items()})
        if results:
            figures[operation] = {
                "results": results,
                "tokens_a_result": round(row_bytes / TOKEN_BYTES / results, 1),
                "with_context": round(context_bytes / TOKEN_BYTES / results, 1),
                "with_the_answer": round(answer_bytes / TOKEN_BYTES / results, 1),
                "of_fields": {name: round(n / TOKEN_BYTES / results, 1) for name, n in spent.most_common()},
            }
    return figures


async def count_readings(front: Front, sample: list[Definition]) -> dict[str, Counter[str]]:
    """Return for each notation: how many names were found, offered and missed; print a
    missed one.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for definition in sample:
        for notation, name in definition.notations():
            answer = await front.call(
                "cortex_graph", operation="callers", target=name, max_results=1, include_context=False
            )
            listed = {strip_overload(candidate) for candidate in answer.get("candidates", ())}
            same = (
                strip_overload(answer["target"]).partition(":")[2] == definition.name
            )  # in any of its parts
            how = "found" if same else "offered" if definition.id in listed else "missed"
            counts[notation][how] += 1
            if how == "missed":
                print(
                    f"  missed: {name} ({definition.id}) was read as {answer['target']}: {answer['suggestion'][:160]}"
                )
    return counts


async def measure(root: Path, names: int, seed: int) -> Figures:
    config = configuration.load(str(root))
    try:
        await wait_until_indexed(root)
        async with connect(root) as front:
            sample = await sample_definitions(front, names, seed)
            operation_figures = await measure_costs(front, sample)
            return {
                "definitions": len(sample),
                "operations": operation_figures,
                "notations": await count_readings(front, sample),
            }
    finally:
        attach.stop(config)


def show(name: str, figures: Figures) -> None:
    print(f"\n{name}: {figures['definitions']} definitions")
    rows = [
        (operation, *(figures_of_operation[name] for name in _COLUMNS))
        for operation, figures_of_operation in figures["operations"].items()
    ]
    print_table(("operation", *(name.replace("_", " ") for name in _COLUMNS)), rows)
    for operation, figures_of_operation in figures["operations"].items():
        print(
            f"{operation}: "
            + ", ".join(f"{field} {spent}" for field, spent in figures_of_operation["of_fields"].items())
        )
    notations = figures["notations"].items()
    rows = [
        (notation, counts["found"], counts["offered"], counts["missed"]) for notation, counts in notations
    ]
    print_table(("notation", "found", "offered", "missed"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("projects", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--names", type=int, default=60, help="definitions to draw")
    parser.add_argument("--seed", type=int, default=1)
    add_json(parser)
    options = parser.parse_args()
    result = begin("graph-answers")
    print_machine(result)
    result["projects"] = {}
    with isolated_environment():
        for root in options.projects:
            figures = asyncio.run(measure(root.resolve(), options.names, options.seed))
            result["projects"][root.name] = figures
            show(root.name, figures)
    if options.json:
        write(result)


if __name__ == "__main__":
    main()
