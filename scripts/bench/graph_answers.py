"""What answers about structure cost, and whether definitions are found as people write their names.

    scripts/bench/graph_answers.py DIR [DIR …] [--names 60] [--seed 1] [--json]

DIR are folders of projects; their indexes are made in a cache that is removed in the end. Each
operation is asked through the MCP server about the same definitions, drawn from the outline of the
project, without the lines around the results and with them. tokens: bytes / 4, of the results alone
and of whole answers that have some. notations: a definition's name as its language, paths and
agents write it; found: the answer is about that definition; offered: it lists it, to choose from.
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
from product import Front, connect, surroundings, wait_whole
from report import Figures, add_json, begin, print_machine, print_table, write

from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.terms.ids import stem_of, strip_overload

OPERATIONS = ("callers", "callees", "implementations")
TOKEN_BYTES = 4
_SHOWN = ("results", "tokens_a_result", "with_context", "with_the_answer")
#: tokens of the outline from which definitions are drawn
OUTLINE_TOKENS = 30_000
#: how languages join the parts of a name, by ending
_JOINTS = {"rs": "::", "php": "::", "cpp": "::", "rb": "#"}


@dataclass(frozen=True, slots=True)
class Definition:
    """What the outline says of one."""

    path: str
    name: str
    line: int

    @property
    def id(self) -> str:
        return f"{stem_of(self.path)}:{self.name}"

    def notations(self) -> Iterator[tuple[str, str]]:
        """(which notation, the name in it)."""
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


async def definitions(front: Front, names: int, seed: int) -> list[Definition]:
    reply = await front.call("cortex_outline", max_tokens=OUTLINE_TOKENS)
    known = {
        Definition(file["file"], symbol["name"], symbol["lines"][0])
        for file in reply["results"]
        for symbol in file.get("symbols", ())
    }
    every = sorted(known, key=lambda one: (one.path, one.line, one.name))
    return random.Random(seed).sample(every, min(names, len(every)))


async def costs(front: Front, asked: list[Definition]) -> Figures:
    """By operation: results, and their tokens and those of the answers for each result."""
    found: Figures = {}
    for operation in OPERATIONS:
        own, whole, around, results, spent = 0, 0, 0, 0, Counter[str]()
        for one in asked:
            answer = await front.call(
                "cortex_graph", operation=operation, target=one.id, include_context=False
            )
            if not answer["results"]:
                continue
            more = await front.call("cortex_graph", operation=operation, target=one.id, include_context=True)
            around += sum(len(orjson.dumps(row)) + 1 for row in more["results"])
            results += len(answer["results"])
            whole += len(orjson.dumps(answer))
            for row in answer["results"]:
                own += len(orjson.dumps(row)) + 1
                spent.update({name: len(orjson.dumps({name: value})) - 1 for name, value in row.items()})
        if results:
            found[operation] = {
                "results": results,
                "tokens_a_result": round(own / TOKEN_BYTES / results, 1),
                "with_context": round(around / TOKEN_BYTES / results, 1),
                "with_the_answer": round(whole / TOKEN_BYTES / results, 1),
                "of_fields": {name: round(n / TOKEN_BYTES / results, 1) for name, n in spent.most_common()},
            }
    return found


async def readings(front: Front, asked: list[Definition]) -> dict[str, Counter[str]]:
    """By notation: how many names were found, offered and missed, and an example of the last."""
    told: dict[str, Counter[str]] = defaultdict(Counter)
    for one in asked:
        for notation, name in one.notations():
            answer = await front.call(
                "cortex_graph", operation="callers", target=name, max_results=1, include_context=False
            )
            listed = {strip_overload(each) for each in answer.get("candidates", ())}
            same = strip_overload(answer["target"]).partition(":")[2] == one.name  # in any of its parts
            how = "found" if same else "offered" if one.id in listed else "missed"
            told[notation][how] += 1
            if how == "missed":
                print(
                    f"  missed: {name} ({one.id}) was read as {answer['target']}: {answer['suggestion'][:160]}"
                )
    return told


async def measure(root: Path, names: int, seed: int) -> Figures:
    config = configuration.load(str(root))
    try:
        await wait_whole(root)
        async with connect(root) as front:
            asked = await definitions(front, names, seed)
            found = await costs(front, asked)
            return {"definitions": len(asked), "operations": found, "notations": await readings(front, asked)}
    finally:
        attach.stop(config)


def show(name: str, found: Figures) -> None:
    print(f"\n{name}: {found['definitions']} definitions")
    rows = [(operation, *(one[name] for name in _SHOWN)) for operation, one in found["operations"].items()]
    print_table(("operation", *(name.replace("_", " ") for name in _SHOWN)), rows)
    for operation, one in found["operations"].items():
        print(f"{operation}: " + ", ".join(f"{field} {spent}" for field, spent in one["of_fields"].items()))
    notations = found["notations"].items()
    rows = [(notation, told["found"], told["offered"], told["missed"]) for notation, told in notations]
    print_table(("notation", "found", "offered", "missed"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("projects", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--names", type=int, default=60, help="definitions that are asked about")
    parser.add_argument("--seed", type=int, default=1)
    add_json(parser)
    options = parser.parse_args()
    result = begin("graph-answers")
    print_machine(result)
    result["projects"] = {}
    with surroundings():
        for root in options.projects:
            found = asyncio.run(measure(root.resolve(), options.names, options.seed))
            result["projects"][root.name] = found
            show(root.name, found)
    if options.json:
        write(result)


if __name__ == "__main__":
    main()
