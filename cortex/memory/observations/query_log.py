"""The log of search queries: stored without secrets, in batches, and summarised for tools."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import case, delete, func, insert, select

from cortex.memory.store.note_store import Store
from cortex.memory.store.tables import QUERY_LOG
from cortex.memory.times import format_moment
from cortex.terms.text.secrets import remove_secrets

#: queries written in one batch, and milliseconds that the first of them waits: a query does not
#: wait for the disk
BATCH, WAIT_MS = 20, 30_000
#: milliseconds after which a logged query is deleted, and its longest length in characters
KEPT_MS, QUERY_CHARS_MAX = 30 * 86_400_000, 500
#: milliseconds between two deletions of old queries
_LOOK_MS = 3_600_000
#: milliseconds from which on a query counts as slow
_SLOW_MS = 200.0


@dataclass(slots=True)
class Tally:
    """Since the store was opened: number of searches and their total time; `last_call_at`: channel
    → time of its last call.
    """

    searches: int = 0
    took_ms: float = 0.0
    slow: int = 0
    errors: int = 0
    by_tool: Counter[str] = field(default_factory=Counter)
    last_call_at: dict[str, int] = field(default_factory=dict)


class Queries:
    """The query log of one store. Use it in one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[dict[str, Any]] = []
        self._looked = 0
        self.tally = Tally()

    @property
    def waiting(self) -> int:
        """The number of queries not written yet."""
        return len(self._waiting)

    def add(self, tool: str, query: str, *, project: str, results: int, took_ms: float, now: int) -> None:
        """Log an answered query with its number of results."""
        self.tally.searches += 1
        self.tally.took_ms += took_ms
        self.tally.slow += took_ms >= _SLOW_MS
        self.tally.by_tool[tool] += 1
        row = {"tool": tool, "project": project, "at": now, "results": results, "took_ms": round(took_ms, 2)}
        self._waiting.append(row | {"query": remove_secrets(query[:QUERY_CHARS_MAX])[0]})
        if len(self._waiting) >= BATCH or now - self._waiting[0]["at"] >= WAIT_MS:
            self.write(now)

    def write(self, now: int) -> None:
        """Write the waiting queries to the store."""
        batch, self._waiting = self._waiting, []
        if not batch:
            return
        with self._store.database.write() as connection:
            connection.execute(insert(QUERY_LOG), batch)
            if not self._looked <= now < self._looked + _LOOK_MS:
                connection.execute(delete(QUERY_LOG).where(QUERY_LOG.c.at < now - KEPT_MS))
                self._looked = now

    def summary(self, project: str, since: int, top: int, now: int) -> dict[str, Any]:
        """Summarise the queries of a project, or of all, since `since`: the `top` most frequent
        ones, and the most frequent of those without results.
        """
        self.write(now)
        is_selected = (QUERY_LOG.c.at >= since) & (
            (QUERY_LOG.c.project == project) if project else (QUERY_LOG.c.at >= 0)
        )
        spelled = func.lower(func.trim(QUERY_LOG.c.query)).label("spelled")
        columns = (
            spelled,
            func.max(QUERY_LOG.c.query).label("query"),
            func.max(QUERY_LOG.c.at).label("last"),
            func.count().label("count"),
            func.avg(QUERY_LOG.c.results).label("results"),
            func.sum(case((QUERY_LOG.c.results == 0, 1), else_=0)).label("none"),
        )
        with self._store.database.read() as connection:
            query = (
                select(*columns)
                .where(is_selected)
                .group_by(spelled)
                .order_by(func.count().desc(), func.max(QUERY_LOG.c.at).desc())
            )
            rows = [_row(row) for row in connection.execute(query).mappings()]
        return {
            "top_queries": rows[:top],
            "zero_result_queries": [row for row in rows if row["zero_result_count"]][:top],
            "total_searches": sum(row["count"] for row in rows),
            "unique_queries": len(rows),
        }


def _row(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        "query": row["query"],
        "last_used": format_moment(row["last"]),
        "count": row["count"],
        "avg_results": round(row["results"], 2),
        "zero_result_count": row["none"],
    }
