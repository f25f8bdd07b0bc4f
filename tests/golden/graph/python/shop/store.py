from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from typing import Optional, overload

from .inner import deep as d


class Base(ABC):
    @abstractmethod
    def save(self, item): ...

    def flush(self):
        self.save(None)


class Store(Base):
    limit: Deep2

    def __init__(self, log: Optional[Log] = None):
        self.log = log
        self.items: list[Item] = []
        self.deep = d.helper()

    def save(self, item):
        self.log.write_line(item)
        self.deep.run().stop()
        for one in self.items:
            one.touch()
        self.items[0].touch()
        super().flush()
        return self._twice(lambda item: item.unknown_method())

    @staticmethod
    def _twice(value):
        return value

    @classmethod
    def make(cls) -> Store:
        return cls()

    @property
    def first(self) -> Item:
        return self.items[0]

    @overload
    def get(self, key: int) -> Item: ...
    @overload
    def get(self, key: str) -> Item: ...
    def get(self, key):
        return Item()


class Item:
    def touch(self):
        return count(3)


class Log:
    def write_line(self, text):
        self.write_line(text)


class Deep2:
    pass


def cached(function):
    @functools.wraps(function)
    def wrapper():
        return function()

    return wrapper


@cached
def count(n):
    if n:
        count(n - 1)
    return n
