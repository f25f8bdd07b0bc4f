"""Answers about a definition with signatures beside its body: overloads, members of interfaces."""

import asyncio

import orjson
import pytest

from cortex.ask.exploring.explore import explore
from cortex.ask.questions import Explore, Related
from cortex.ask.references.related import find_related

STORE = """\
export class Store {
    private names: string[] = []

    preload(names: string[]): void {
        this.names.push(...names)
    }

    save(name: string): void

    save(names: string[]): void

    save(nameOrNames: string | string[]): void {
        const names = Array.isArray(nameOrNames) ? nameOrNames : [nameOrNames]
        this.names.push(...names)
    }
}

export function open_all(name: string): Store
export function open_all(names: string[]): Store
export function open_all(names: any): Store {
    return new Store(names)
}

export interface Sink {
    first(name: string): void
    drain(name: string): void
    drain(names: string[]): void
}
"""
USES = """\
import { Store, Sink, open_all } from "./store"

export function start(store: Store) {
    store.preload(["a"])
}

export function finish(store: Store) {
    store.save("b")
}

export function begin() {
    return open_all("c")
}

export function pour(sink: Sink) {
    sink.first("d")
}

export function empty(sink: Sink) {
    sink.drain("e")
}
"""
BOX = """\
from typing import overload


class Box:
    def first(self):
        return self.items[0]

    @overload
    def put(self, item: int) -> None: ...

    @overload
    def put(self, item: str) -> None: ...

    def put(self, item):
        self.items.append(item)
        self.last = item


def fill():
    box = Box()
    box.put(3)


def show():
    return Box().first()
"""


@pytest.fixture(scope="module")
def overloads(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("overloads")
    for name, text in {"src/store.ts": STORE, "src/use.ts": USES, "box.py": BOX}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return serve(root)


@pytest.mark.parametrize(
    ("symbol", "signature", "last", "caller"),
    [
        ("Store.save", "save(nameOrNames: string | string[]): void {", "}", "finish"),
        ("open_all", "export function open_all(names: any): Store {", "}", "begin"),
        ("Box.put", "def put(self, item):", "    self.last = item", "fill"),
        ("Sink.drain", "drain(name: string): void", "drain(name: string): void", "empty"),
    ],
)
def test_the_body_of_an_overloaded_symbol_is_shown_with_its_callers(
    overloads, symbol, signature, last, caller
):
    answer = asyncio.run(explore(overloads.context(), Explore(symbol)))
    lines = answer["functions"][0]["text"].split("\n")
    assert (lines[0], lines[-1]) == (signature, last)
    assert [entry["symbol"] for entry in answer["callers"]] == [caller]
    related = orjson.loads(orjson.dumps(asyncio.run(find_related(overloads.context(), Related(symbol)))))
    assert [entry["id"].rpartition(":")[2] for entry in related["callers"]] == [caller]
