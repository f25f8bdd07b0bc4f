"""Properties run code where they are read and assigned; attributes do not: not crate.size here."""

from functools import cached_property


class Scale:
    def weigh(self, n: int) -> int:
        return n

    def note(self, n: int) -> None: ...


class Crate:
    plain: int
    scale: Scale

    @property
    def size(self) -> int:
        return self.scale.weigh(1)

    @property
    def weight(self) -> int:
        return self.scale.weigh(2)

    @weight.setter
    def weight(self, n: int) -> None:
        self.scale.note(n)

    @cached_property
    def cached(self) -> int:
        return self.size

    def own(self) -> int:
        return self.size + self.weight

    def method(self) -> int:
        return 0


class Box(Crate):
    def above(self) -> int:
        return super().size


class Sack:
    size: int
    weight: int


def read(crate: Crate, box: Box) -> int:
    return crate.size + box.weight + crate.cached if crate.size else 0


def assign(crate: Crate) -> None:
    crate.weight = 1


def change(crate: Crate) -> None:
    crate.weight += 1


def other(sack: Sack, crate: Crate, unknown) -> int:
    sack.weight = sack.size
    return (crate.plain, unknown.size, Crate.size, crate.method, "crate.size")
