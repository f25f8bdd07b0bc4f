"""The answer of cortex_uses: the meaning of a question for the uses of a name (a definition, a
member, a file, a line, a word of the text), and the lines that use it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cortex.ask.exploring.spellings import find_spellings, spell
from cortex.ask.lines.receivers import Owner
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.reading.meanings import UNKNOWN, Meaning, find_meanings
from cortex.ask.references.declared_lines import Declared, find_declared
from cortex.ask.references.definition_uses import TOKENS, Direction, find_uses_of, have_uses, word_of
from cortex.ask.references.file_mentions import as_components, files_meant, list_file_uses
from cortex.ask.references.nested_settings import find_joined_names, find_nested
from cortex.ask.references.owners import NamedOwner, find_named_owner
from cortex.ask.references.use_sites import render
from cortex.ask.references.view_uses import list_view_uses
from cortex.ask.references.word_lines import find_lines, find_mentions
from cortex.query.check import check_text
from cortex.ranking.traces import looks_like_path
from cortex.system.errors import BadRequest
from cortex.terms.bounds import clamp
from cortex.terms.budget import TOKEN_BYTES
from cortex.terms.kinds import WHOLE_KINDS
from cortex.terms.languages import language_of
from cortex.terms.text.spelling import read_file_lines, read_symbol
from cortex.terms.tokens import WORD

#: bounds of the tokens of an answer, and the largest number of steps
TOKENS_MIN, TOKENS_MAX, DEPTH_MAX = 200, 20_000, 3
#: a name whose word `operator` stands in lines of all other operators, too
_OPERATOR = re.compile(r"(?:.*\W)?operator(?:\s|[^\w.:]).*")
#: languages whose code names no folders
_FOLDERS_UNNAMED = frozenset(("csharp", "elixir", "java", "kotlin", "scala", "swift"))


@dataclass(frozen=True, slots=True)
class UsesQuestion:
    """A question for the uses of `symbol`, as people write it."""

    symbol: str
    direction: Direction = "callers"
    depth: int = 1
    offset: int = 0
    max_tokens: int = TOKENS

    def checked(self) -> UsesQuestion:
        if not self.symbol.strip():
            raise BadRequest("The symbol is empty; pass the name of a function, method or type.")
        check_text(self.symbol, "symbol")
        return replace(
            self,
            depth=clamp(self.depth, 1, DEPTH_MAX),
            offset=max(0, self.offset),
            max_tokens=clamp(self.max_tokens, TOKENS_MIN, TOKENS_MAX),
        )


async def uses(context: QueryContext, question: UsesQuestion) -> dict[str, Any]:
    """Answer cortex_uses. Raises BadRequest, and Unavailable when the graph worker is silent."""
    question = question.checked()

    async def make(turn: Turn) -> dict[str, Any]:
        return await find_uses(turn, question) | {"index": turn.index()}

    turn, answer = await context.attempt(make)
    if answer is not None:
        return answer
    return {"sites": [], "suggestion": turn.explain_nothing(), "index": turn.index()}


async def find_uses(turn: Turn, question: UsesQuestion) -> dict[str, Any]:
    """Return the uses of each meaning of the symbol as `sites`, `notes`, and a `suggestion` if it
    is unknown. Raises NotReady, BadRequest.
    """
    symbol, direction, offset = question.symbol, question.direction, question.offset
    max_bytes = question.max_tokens * TOKEN_BYTES
    meanings, suggestion = await find_meanings(turn, symbol)
    meanings = await as_components(turn, meanings)
    if direction == "callers" and all(m.is_guess or m.kind in WHOLE_KINDS for m in meanings):
        by_name = await list_view_uses(turn, symbol, offset, max_bytes)
        if by_name is not None:
            return by_name | {"notes": [], "suggestion": ""}
        files = files_meant(turn, symbol)
        if files and not await have_uses(turn, meanings):
            by_path = await list_file_uses(turn, files, offset, max_bytes)
            if not meanings or any(block["total"] for block in by_path["sites"]):
                return by_path
    if direction == "callers" and (declared := await find_declared(turn, symbol, meanings)) is not None:
        return await _list_declared(turn, declared, offset, max_bytes)
    names = read_symbol(symbol) or (symbol,)
    guessed = not meanings or len(meanings) > 1 or meanings[0].is_guess
    is_path = looks_like_path(read_file_lines(symbol).path)
    is_named = direction in ("callers", "types") and not is_path and not _OPERATOR.fullmatch(symbol)
    is_member = direction == "callers" and guessed and "." in names[0] and not is_path
    named = await find_named_owner(turn, names[0]) if is_member else None
    if named and named.inherited:
        meanings, named = list(named.inherited), None
    name = names[0].rpartition(".")[2]
    is_misread = is_named and all(
        (meaning.is_guess and word_of(meaning) != name) or _is_other_file(meaning, symbol)
        for meaning in meanings
    )
    if named or is_misread:
        by_lines = await _list_lines(turn, names[0], named, direction, offset=offset, max_bytes=max_bytes)
        reason = named.describe(name, meanings) if named else _explain_lines(names[0], meanings, suggestion)
        if is_misread and not offset and (nested := await find_nested(turn, find_joined_names(names[0]))):
            by_lines = (by_lines or {}) | {"sites": [*nested, *(by_lines["sites"] if by_lines else ())]}
        if by_lines is not None:
            return by_lines | {"notes": [], "suggestion": reason}
        spelled = spell(symbol, await find_spellings(turn, symbol, WORD.findall(symbol)))
        if spelled != symbol:
            answer = await find_uses(turn, replace(question, symbol=spelled))
            note = f"There is no {symbol!r}: read as {spelled!r}."
            return answer | {"notes": [note, *answer["notes"]]}
        suggestion = reason if named else suggestion
    meanings = [] if named else meanings
    # a name that is read as a file may also be one of something else: an icon, a component
    word = names[0] if is_named and all(meaning.kind in WHOLE_KINDS for meaning in meanings) else ""
    step = direction, question.depth
    answer = await find_uses_of(
        turn, meanings, *step, offset=offset, max_tokens=question.max_tokens, word=word
    )
    return answer | {"suggestion": suggestion}


async def _list_declared(turn: Turn, declared: Declared, offset: int, max_bytes: int) -> dict[str, Any]:
    """Return the lines with the name that a line declares, as an answer of `find_uses`."""
    owner, place = declared.owner, (declared.file, declared.line)
    for room in (0, max_bytes):  # a type that mixes the type in names the member alone
        usage, others = await find_mentions(turn, declared.word, owner, room)
        usage.sites = [
            site
            for site in usage.sites
            if site.place != place and not (declared.is_private and site.file != declared.file)
        ]
        if usage.sites or owner is None:
            break
    head = {
        "of": f"{owner.name}.{declared.word}" if owner else declared.word,
        "at": f"{declared.file}:{declared.line}",
        "direction": "callers",
    }
    sites = [head | render(replace(usage, textual=True), offset, max_bytes)]
    elsewhere = {"elsewhere": others} if others and not offset and not declared.is_private else {}
    return {"sites": sites, "notes": [], "suggestion": ""} | elsewhere


async def _list_lines(
    turn: Turn, name: str, named: NamedOwner | None, direction: Direction, *, offset: int, max_bytes: int
) -> dict[str, Any] | None:
    """Return the lines with a name that no definition has, as `sites` and `elsewhere`, or None."""
    outer, _, word = name.rpartition(".")
    owner = named.owner if named else None
    if owner is None and (of_type := outer.rpartition(".")[2])[:1].isupper():
        owner = Owner(of_type)  # outside of the project
        naming = await find_lines(turn, of_type)
        if naming is not None and not naming.lines:  # no type at all
            return None
    # lines of a type that may have the member elsewhere are among the others
    room = max_bytes if named and not named.line else 0
    usage, others = await find_mentions(turn, word if owner else name, owner, room)
    has_others = named and any(others.get(key) for key in ("total", "tests", "texts"))
    if not others or not (usage.sites or usage.imports or (named and named.line) or has_others):
        return None
    head: dict[str, Any] = {"of": f"{owner.name}.{word}" if owner else others["name"]}
    if named and named.line:
        head["at"] = f"{named.owner.file}:{named.line}"
        usage.sites = [site for site in usage.sites if site.place != (named.owner.file, named.line)]
    block = head | {"direction": direction} | render(usage, offset, max_bytes)
    return {"sites": [block]} | ({} if offset else {"elsewhere": others})


def _is_other_file(meaning: Meaning, symbol: str) -> bool:
    """Whether a plain word means a file or a folder of another spelling, or one that code of its
    language does not name.
    """
    if not symbol.isidentifier() or meaning.kind not in WHOLE_KINDS or ":" in meaning.id:
        return False
    parts = meaning.file.split("/")
    if language_of(meaning.file).name in _FOLDERS_UNNAMED:
        parts = parts[-1:]
    return symbol not in {part.partition(".")[0] for part in parts}


def _explain_lines(name: str, meanings: Sequence[Meaning], suggestion: str) -> str:
    """Return that lines are listed in place of a definition; `suggestion` where there are many."""
    near = ", ".join(f"{meaning.name} ({meaning.place})" for meaning in meanings)
    if not near and not suggestion.startswith(UNKNOWN):
        return suggestion
    return f"No definition is named {name!r}{f'; like it: {near}' * bool(near)}."
