"""The definitions that a symbol means, and the overloads of one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cortex.ask.exploring.functions import Function, look_up, parse_functions
from cortex.ask.query_context import Turn
from cortex.terms.code.overloads import OVERLOADING, fitting_overloads, names_parameters
from cortex.terms.ids import strip_overload
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS
from cortex.terms.languages import language_of
from cortex.terms.paths import is_test, is_unshipped
from cortex.terms.text.spelling import read_file_lines, read_symbol
from ipc.messages import GraphHits

#: meanings of an ambiguous name that are answered together
MEANINGS_MAX = 3
#: overloads of one function that are told apart
OVERLOADS_MAX = 40
#: begins a sentence about a symbol that no definition has
UNKNOWN = "There is no "
#: beginnings of remarks about a symbol that is no exact name
_GUESSES = (UNKNOWN, "Line ")


@dataclass(frozen=True, slots=True)
class Meaning(Function):
    """A definition that a symbol means. `remark`: how an uncertain symbol was read; `symbol`: as
    written.
    """

    remark: str = ""
    symbol: str = ""

    @property
    def name(self) -> str:
        return short_name(self.id) or self.id

    @property
    def place(self) -> str:
        return f"{self.file}:{self.start}"

    @property
    def is_guess(self) -> bool:
        """Whether the symbol is no name of the definition; a remark also lists copies of it."""
        return self.remark.startswith(_GUESSES)


async def find_meanings(turn: Turn, symbol: str, most: int = MEANINGS_MAX) -> tuple[list[Meaning], str]:
    """Return the definitions that `symbol` means, and a sentence where it means none or more than
    `most`. Raises NotReady.
    """
    # a macro of Rust is often written without its mark
    names = (symbol, f"{symbol}!") if symbol.isidentifier() else (symbol,)
    hits, *macros = await look_up(turn, names)
    if hits is None:
        return [], ""
    if hits.suggestion.startswith(UNKNOWN):
        hits = next((macro for macro in macros if macro and macro.results and not macro.suggestion), hits)
    if hits.results:
        return [read_meaning(hits, symbol)], ""
    candidates = _likely(symbol, hits.candidates) if hits.ambiguous else ()
    if not 0 < len(candidates) <= most:
        return [], hits.suggestion
    answers = await look_up(turn, candidates)
    pairs = zip(candidates, answers, strict=False)
    read = [(name, read_meaning(answer, symbol)) for name, answer in pairs if answer and answer.results]
    # a folder's name does not mean its first file
    meanings = [m for name, m in read if m.id == name or not m.file.startswith(f"{name}/")]
    if hits.suggestion.startswith(UNKNOWN):  # its last part alone has meanings
        remark = f"{hits.suggestion.partition(';')[0]}; read by its last part."
        meanings = [replace(meaning, remark=remark) for meaning in meanings]
    # a constant of the same name mostly exports the function: `const { save } = require("./save")`
    named = [meaning for meaning in meanings if meaning.kind in CALLABLE_KINDS | TYPE_KINDS]
    meanings = named or meanings
    return meanings, "" if meanings else hits.suggestion


def _likely(symbol: str, candidates: Sequence[str]) -> Sequence[str]:
    """Return the candidates that the symbol means rather than the others: shipped sources before
    tests and built files; those in the folder that is named before the name, as in `tokio::spawn`.
    """
    paths = {name: name.partition(":")[0] for name in candidates}
    shipped = [name for name, path in paths.items() if not (is_unshipped(path) or is_test(path))]
    owners = set((read_symbol(symbol) or ("",))[0].split(".")[:-1])
    inside = [
        name
        for name in shipped or candidates
        if owners.intersection(paths[name].split("/")) and "." not in short_name(name)
    ]
    return inside or shipped or candidates


def read_meaning(hits: GraphHits, symbol: str = "") -> Meaning:
    first = parse_functions(hits)[0]
    identity = (
        hits.target if first.file.startswith(f"{hits.target}/") else first.id
    )  # of a folder's first file
    place = first.file, first.start, first.end
    return Meaning(identity, *place, first.kind, first.signature, hits.suggestion, symbol)


async def read_definitions(turn: Turn, names: Sequence[str]) -> list[Meaning]:
    """Return the definitions of those of the names that mean one. Raises NotReady."""
    return [read_meaning(hits) for hits in await look_up(turn, names) if hits is not None and hits.results]


async def find_overloads(turn: Turn, meaning: Meaning) -> list[Meaning]:
    """Return a definition and its overloads in order, as far as the graph has them."""
    if meaning.kind not in CALLABLE_KINDS or language_of(meaning.file).name not in OVERLOADING:
        return [meaning]
    base = strip_overload(meaning.id)
    overloads: dict[str, Meaning] = {}  # by place: a prototype is at that of its definition
    for numbers in (range(1, 3), range(3, 7), range(7, 17), range(17, OVERLOADS_MAX + 1)):
        names = [f"{base}~{number}" if number > 1 else base for number in numbers]
        named = [overload for overload in await read_definitions(turn, names) if overload.id in names]
        for overload in named:
            overloads.setdefault(overload.place, overload)
        if len(named) < len(names):
            break
    return list(overloads.values()) if len(overloads) > 1 else [meaning]


def choose_overload(meaning: Meaning, overloads: Sequence[Meaning]) -> Meaning | None:
    """Return the overload that a symbol names by its place or by its parameters; None for all."""
    if len(overloads) < 2:
        return None
    if "~" in meaning.symbol or read_file_lines(meaning.symbol).line:
        return next((overload for overload in overloads if overload.id == meaning.id), None)
    if not names_parameters(meaning.symbol):
        return None
    fitting = fitting_overloads(meaning.symbol, [overload.signature for overload in overloads])
    return overloads[fitting[0]] if len(fitting) == 1 else None


def short_name(identity: str) -> str:
    """Return the name inside its file as people write it: `Router.dispatch`; "" for a file."""
    return strip_overload(identity).partition(":")[2]
