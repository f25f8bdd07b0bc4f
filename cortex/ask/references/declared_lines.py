"""The member, constant or key that a line declares and the graph lacks: what `path:line` means in a
question for uses.
"""

from dataclasses import dataclass

from cortex.ask.lines.current_lines import read_texts
from cortex.ask.lines.declared_names import find_declared_name, is_private
from cortex.ask.lines.receivers import Owner
from cortex.ask.query_context import Turn
from cortex.ask.reading.meanings import Meaning
from cortex.ask.references.file_mentions import files_meant
from cortex.ask.references.owners import make_owner
from cortex.system.errors import Unavailable
from cortex.terms.kinds import TYPE_KINDS, WHOLE_KINDS
from cortex.terms.text.spelling import read_file_lines


@dataclass(frozen=True, slots=True)
class Declared:
    """A name without a definition in the graph, and its place. `owner`: the type whose member it
    is; `is_private`: no other file can use it.
    """

    word: str
    file: str
    line: int
    owner: Owner | None = None
    is_private: bool = False


async def find_declared(turn: Turn, symbol: str, meanings: list[Meaning]) -> Declared | None:
    """Return what the line declares that `symbol` names; None if it names no line, or one of a
    definition of the graph, which `meanings` holds. Raises NotReady.
    """
    place = read_file_lines(symbol)
    around = meanings[0] if meanings else None
    if not place.line or place.last > place.line or len(meanings) > 1:
        return None
    if around is not None and around.kind not in TYPE_KINDS | WHOLE_KINDS:
        return None
    files = [around.file] if around else files_meant(turn, place.path)
    if len(files) != 1:
        return None
    try:
        text = (await read_texts(turn, files)).get(files[0], "")
    except Unavailable:
        return None
    owner = await make_owner(turn, around) if around is not None and around.kind in TYPE_KINDS else None
    word = find_declared_name(files[0], text, place.line, owner)
    # the first lines of a definition may hold its name below annotations
    if not word or (around is not None and word == around.name.rpartition(".")[2]):
        return None
    line = text.split("\n")[place.line - 1]
    return Declared(word, files[0], place.line, owner, owner is None and is_private(files[0], line))
