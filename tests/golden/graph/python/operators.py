"""Operators: calls of a known type's methods; lists and numbers have other types."""


class Meter:
    def __add__(self, other: "Meter") -> "Meter":
        return other

    def __getitem__(self, at: int) -> int:
        return at

    def __setitem__(self, at: int, value: int) -> None:
        pass

    def __contains__(self, other: int) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return True


class Long(Meter):
    def __lt__(self, other: "Long") -> bool:
        return True

    def __iadd__(self, other: "Long") -> "Long":
        return other


class Gram:
    def __add__(self, other: "Gram") -> "Gram":
        return other


def measure(meter: Meter, long: Long, gram: Gram, meters: list[Meter], number, other: Meter[int]):
    meter + meter
    (number + gram, long[1], number[2])
    meter[1] = 2
    meters[1] + meters
    3 in long
    long < long
    long += long
    number == 1


def compare(meter: Meter, gram: Gram):
    meter == gram
    gram + gram
    gram == meter


def assign(gram: Gram, text: str):
    gram += gram
    text += "x"
