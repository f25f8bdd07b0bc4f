"""Results of questions about code, for Python programs. docs/TOOLS.md explains the tools."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Hit:
    """Lines that answer a question, counted from 1. `stale`: the file has changed since; `kind`, of
    `exact`: definition, call, import, type, text, comment or test.
    """

    file: str
    start: int
    end: int
    text: str
    symbol: str
    kind: str
    score: float
    stale: bool


@dataclass(frozen=True, slots=True)
class Use:
    """A place that uses the definition `of`, with the function `name` around it."""

    of: str
    file: str
    line: int
    name: str
    text: str
    test: bool


@dataclass(frozen=True, slots=True)
class Source:
    """Lines of a file as they are now, or without `text` an outline, whose `name` lists names."""

    file: str
    start: int
    end: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Index:
    """The state of the index. While it is not `complete`, answers may miss files."""

    generation: int
    complete: bool
    pending: tuple[str, ...]
    degraded: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Answer(Generic[Row]):
    """Results, best first. `truncated`: there are more; `suggestion` and `notes` are sentences."""

    results: tuple[Row, ...]
    index: Index
    truncated: bool
    suggestion: str
    notes: tuple[str, ...]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)


Json = Mapping[str, Any]


def read_index(block: Json) -> Index:
    has_rest = any(block.get(name) for name in ("indexing", "publishing", "searchable", "pending_count"))
    return Index(
        generation=block["generation"],
        complete=block["generation"] > 0 and not has_rest,
        pending=tuple(block["pending"]),
        degraded=tuple(block["degraded"]),
        message=block.get("message", ""),
    )


def read_hits(answer: Json) -> Answer[Hit]:
    """Read the answer of cortex_search or cortex_exact."""
    return _answer(answer, tuple(map(_hit, answer["results"])))


def read_uses(answer: Json) -> Answer[Use]:
    uses = tuple(
        Use(
            entry["of"],
            file["file"],
            site["line"],
            site.get("name", ""),
            site.get("text", ""),
            file.get("test", False),
        )
        for entry in answer["sites"]
        for file in entry["files"]
        for site in file["sites"]
    )
    return _answer(answer, uses, has_more=any("next_offset" in entry for entry in answer["sites"]))


def read_sources(answer: Json) -> Answer[Source]:
    rows = (*answer["code"], *answer.get("map", ()))
    return _answer(answer, tuple(map(_source, rows)))


def _answer(answer: Json, rows: tuple[Row, ...], *, has_more: bool = False) -> Answer[Row]:
    return Answer(
        rows,
        read_index(answer["index"]),
        answer.get("truncated", has_more),
        answer.get("suggestion", ""),
        tuple(answer.get("notes", ())),
    )


def _hit(row: Json) -> Hit:
    chunk, place = row["chunk"], row["chunk"]["metadata"]
    return Hit(
        file=place.get("file_path", ""),
        start=place.get("start_line", 0),
        end=place.get("end_line", 0),
        text=chunk.get("text", ""),
        symbol=place.get("symbol", ""),
        kind=place.get("kind", ""),
        score=row.get("combined_score", row.get("score", 0.0)),
        stale=row.get("stale", False),
    )


def _source(row: Json) -> Source:
    text = "\n".join(piece["text"] for piece in row.get("pieces", ()))
    return Source(row["file"], row.get("start", 0), row.get("end", 0), row["name"], text)
