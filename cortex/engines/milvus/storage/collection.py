"""The collections in Milvus: their schemas and every request to them. Only this module and
`connection` use pymilvus.

Every query has a deadline and sees all earlier writes (consistency "Strong"). Milvus has no
transactions: `cortex/engines/milvus/publishing/publisher` makes a sequence of these steps atomic.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any

from cortex.engines.milvus.place import MilvusPlace
from cortex.engines.milvus.storage.connection import CONNECT_S, connect, describe_error
from cortex.system.errors import Misconfigured, Unavailable

if TYPE_CHECKING:
    from pymilvus import MilvusClient

#: number of the schemas of rows and parts; other numbers are other schemas
SCHEMA = 1
#: `died` of a live row
FOREVER = (1 << 62) - 1
#: seconds for a query, and for a write
ASK_S, WRITE_S = 5.0, 60.0
#: factor for the deadline of a count: milvus-lite reads every row for it, .2 ms each
COUNT_TIMES = 6
#: rows of one message, some 5 kB each, and bytes of their texts: one row may have 500 kB
BATCH_ROWS, BATCH_BYTES = 1_000, 8 << 20
#: messages in flight: one is encoded while Milvus takes the other
SENDERS = 2
#: keys of one read, and hits of one search: Milvus's bound
KEYS_MAX, HITS_MAX = 500, 16_384
#: rows of one portion when an iterator reads all rows of a filter
PORTION_ROWS = 2_000
#: Milvus's bound on the bytes of a text, and the bytes that we put into one
TEXT_MAX, TEXT_BYTES = 65_535, 60_000
#: tags, symbols and definitions of a row, and bytes of each
MANY_MAX, NAME_BYTES = 1_000, 400
#: the ranking lanes, each a text of finished tokens with its BM25 function; tantivy uses the same
#: numbers
BM25 = {"bm25_k1": 1.2, "bm25_b": 0.75}
#: lane → name of its field
FIELDS = {"body": "body", "path": "path_words", "defs": "defs", "comments": "comments"}
#: the field of the lanes of chunks that cover no lines: their texts differ in length, and BM25 uses
#: the mean length of a field
VIEWS = "views"


class Collection:
    """The data of one project in the collections of `place`. For one thread; connects on first use,
    and again after a failure.
    """

    def __init__(self, place: MilvusPlace, patience_s: float = 0.0) -> None:
        """`patience_s`: seconds for a query of a writer, for which no user waits."""
        self.place, self._patience_s = place, patience_s
        self.rows = f"{place.collection}_{place.dimensions}"
        self.parts = f"{place.collection}_parts"
        self._client: MilvusClient | None = None
        self._connecting = Lock()

    @property
    def _ask_s(self) -> float:
        return self._patience_s or ASK_S

    @property
    def project(self) -> str:
        """A filter: the rows of this project."""
        return f'project == "{self.place.project}"'

    def at(self, generation: int) -> str:
        """A filter: the rows of one generation of this project."""
        return f"{self.project} and born <= {generation} and died > {generation}"

    def insert(self, rows: Iterable[dict[str, Any]]) -> None:
        self._upsert(self.rows, rows)

    def insert_parts(self, parts: Iterable[dict[str, Any]]) -> None:
        self._upsert(self.parts, ({"nothing": [0.0, 0.0], **entry} for entry in parts))

    def _upsert(self, name: str, rows: Iterable[dict[str, Any]], **how: bool) -> None:
        def write(some: list[dict[str, Any]]) -> None:
            # No plain insert: pymilvus retries after a failure, and the row would then exist twice.
            self._do("write", lambda client: client.upsert(name, some, timeout=WRITE_S, **how))

        sent = deque[Future[None]]()
        with ThreadPoolExecutor(SENDERS, thread_name_prefix="to-milvus") as pool:
            for batch in batches(rows):
                sent.append(pool.submit(write, batch))
                if len(sent) > SENDERS:
                    sent.popleft().result()
            for future in sent:
                future.result()

    def change(self, keys: Iterable[str], died: int) -> None:
        """Set `died` of the rows with these primary keys."""
        changed = ({"pk": key, "died": died} for key in keys)
        self._upsert(self.rows, changed, partial_update=True)

    def delete(self, wanted: str, *, parts: bool = False) -> None:
        name = self.parts if parts else self.rows
        self._do("delete", lambda client: client.delete(name, filter=wanted, timeout=WRITE_S))

    def delete_parts(self, keys: list[str]) -> None:
        for at in range(0, len(keys), KEYS_MAX):
            some = keys[at : at + KEYS_MAX]
            self._do("delete", lambda client, ids=some: client.delete(self.parts, ids=ids, timeout=WRITE_S))

    def count(self, wanted: str) -> int:
        (row,) = self._do(
            "count",
            lambda client: client.query(
                self.rows,
                filter=wanted,
                output_fields=["count(*)"],
                consistency_level="Strong",
                timeout=COUNT_TIMES * self._ask_s,
            ),
        )
        return int(row["count(*)"])

    def keys(self, wanted: str) -> list[str]:
        """The primary keys of all rows that match a filter."""
        return [row["pk"] for row in self._iterate(self.rows, wanted, ["pk"])]

    def get(self, keys: Sequence[str], fields: list[str], *, parts: bool = False) -> list[dict[str, Any]]:
        """The existing rows among those with these primary keys, in any order."""
        name, rows = self.parts if parts else self.rows, []
        left = iter(keys)
        while some := list(islice(left, KEYS_MAX)):
            rows += self._do(
                "read",
                lambda client, ids=some: client.get(
                    name, ids=ids, output_fields=fields, consistency_level="Strong", timeout=self._ask_s
                ),
            )
        return rows

    def find(self, wanted: str, fields: list[str]) -> list[dict[str, Any]]:
        """All rows that match a filter."""
        return list(self._iterate(self.rows, wanted, fields))

    def parts_like(self, wanted: str, fields: list[str]) -> list[dict[str, Any]]:
        return list(self._iterate(self.parts, f"{self.project} and {wanted}", fields))

    def search(self, field: str, query: Any, wanted: str, limit: int) -> list[tuple[dict[str, Any], float]]:
        """((project, key), score) of the nearest rows that match a filter, best first."""
        metric = "COSINE" if field == "vector" else "BM25"
        (hits,) = self._do(
            "search",
            lambda client: client.search(
                self.rows,
                data=[query],
                anns_field=field,
                filter=wanted,
                limit=limit,
                output_fields=["project", "key"],
                search_params={"metric_type": metric},
                consistency_level="Strong",
                timeout=self._ask_s,
            ),
        )
        sign = 1.0 if metric == "COSINE" else -1.0 if any(hit["distance"] < 0 for hit in hits) else 1.0
        return [(hit["entity"], sign * float(hit["distance"])) for hit in hits]

    def create_collections(self) -> None:
        """Create missing collections. Raises Misconfigured when one has other fields."""
        for name, schema, index in (
            (self.rows, self._row, self._row_index),
            (self.parts, _part_schema, _part_index),
        ):
            if not self._do(
                "look", lambda client, collection=name: client.has_collection(collection, timeout=self._ask_s)
            ):
                self._do(
                    "make the collection",
                    lambda client, collection=name, fields=schema, by=index: client.create_collection(
                        collection,
                        schema=fields(client),
                        index_params=by(client),
                        consistency_level="Strong",
                        timeout=WRITE_S,
                    ),
                )

    def close(self) -> None:
        with self._connecting:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _iterate(self, name: str, wanted: str, fields: list[str]) -> Iterator[dict[str, Any]]:
        """All rows that match a filter, in portions: one answer has at most HITS_MAX."""

        def begin(client: MilvusClient) -> Any:
            return client.query_iterator(
                name,
                batch_size=PORTION_ROWS,
                filter=wanted,
                output_fields=list({"pk", *fields}),
                consistency_level="Strong",
                timeout=self._ask_s,
            )

        portions = self._do("read", begin)
        try:
            while portion := self._do("read", lambda _client: portions.next()):
                yield from portion
        finally:
            portions.close()

    def _do(self, what: str, ask: Any) -> Any:
        from grpc import RpcError  # raised when a deadline passes: pymilvus does not wrap it
        from pymilvus.exceptions import MilvusException

        try:
            return ask(self._connected())
        except (MilvusException, RpcError) as error:
            self.close()
            raise describe_error(self.place, what, error) from error
        except (ValueError, OSError) as error:  # pymilvus uses a channel that was closed
            self.close()
            raise Unavailable(f"Milvus at {self.place.label} cannot be asked to {what}: {error}.") from error

    def _connected(self) -> MilvusClient:
        with self._connecting:
            if self._client is None:
                client = connect(self.place)
                try:
                    self._check_schemas(client)
                except BaseException:
                    client.close()
                    raise
                self._client = client
            return self._client

    def _check_schemas(self, client: MilvusClient) -> None:
        schemas = {self.rows: self._row(client), self.parts: _part_schema(client)}
        for name, schema in schemas.items():
            if not client.has_collection(name, timeout=self._ask_s):
                continue
            fields = client.describe_collection(name, timeout=self._ask_s)["fields"]
            if {field["name"] for field in fields} != {field.name for field in schema.fields}:
                raise Misconfigured(
                    f"The collection {name} at {self.place.label} has other fields than this version of Cortex "
                    "writes: set milvus.collection to another name and index again, or take the version that made it."
                )
            client.load_collection(name, timeout=CONNECT_S)  # a restarted server has released it

    def _row(self, client: MilvusClient) -> Any:
        return _row_schema(client, self.place.dimensions)

    def _row_index(self, client: MilvusClient) -> Any:
        index = client.prepare_index_params()
        # for AUTOINDEX milvus-lite builds a graph over each file it writes, during searches
        kind = "FLAT" if self.place.file else "AUTOINDEX"
        index.add_index("vector", index_type=kind, metric_type="COSINE")
        for lane in (*FIELDS.values(), VIEWS):
            index.add_index(
                f"{lane}_bm25", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=dict(BM25)
            )
        return index


def batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Group rows into messages: large messages take less time per row, for Milvus and for us."""
    some, size = list[dict[str, Any]](), 0
    for row in rows:
        some.append(row)
        size += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(some) == BATCH_ROWS or size >= BATCH_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _row_schema(client: MilvusClient, dimensions: int) -> Any:
    from pymilvus import DataType, Function, FunctionType

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    add, text = schema.add_field, DataType.VARCHAR
    add("pk", text, is_primary=True, max_length=300)
    add("project", text, is_partition_key=True, max_length=300)
    for name in ("key", "born", "died", "start_line", "end_line", "parts"):
        add(name, DataType.INT64)
    for name in ("covers", "has_vector"):
        add(name, DataType.BOOL)
    for name in ("model", "path", "type", "language", "id"):
        add(name, text, max_length=4 * NAME_BYTES)
    for name in ("tags", "symbols", "defined"):
        add(name, DataType.ARRAY, element_type=text, max_capacity=MANY_MAX, max_length=NAME_BYTES)
    add("hash", text, max_length=64)
    add("chunk", text, max_length=TEXT_MAX)
    add("vector", DataType.FLOAT_VECTOR, dim=dimensions)
    for lane in (*FIELDS.values(), VIEWS):
        words = {"enable_analyzer": True, "analyzer_params": {"tokenizer": "standard"}}
        add(lane, text, max_length=TEXT_MAX, **words)
        add(f"{lane}_bm25", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_function(
            Function(
                name=f"{lane}_to_bm25",
                function_type=FunctionType.BM25,
                input_field_names=[lane],
                output_field_names=[f"{lane}_bm25"],
            )
        )
    return schema


def _part_schema(client: MilvusClient) -> Any:
    """The schema of parts: a name, a content, and a dummy vector, which Milvus requires."""
    from pymilvus import DataType

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("pk", DataType.VARCHAR, is_primary=True, max_length=600)
    schema.add_field("project", DataType.VARCHAR, is_partition_key=True, max_length=300)
    schema.add_field("content", DataType.VARCHAR, max_length=TEXT_MAX)
    schema.add_field("nothing", DataType.FLOAT_VECTOR, dim=2)
    return schema


def _part_index(client: MilvusClient) -> Any:
    index = client.prepare_index_params()
    index.add_index("nothing", index_type="FLAT", metric_type="L2")
    return index
