"""The code of cortex_search's answer: the choice of definitions, and the share of each."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cortex.front.text import render
from tests.ask.searched import ask, write

LONG = "\n".join(f"    parcel_{at} = weigh_parcel(parcel, {at})" for at in range(70))
FIELDS = "\n".join(f"    parcel_{at} = {at}" for at in range(20))
FILES = {
    "shop/parcel.py": f'''"""Parcels."""

PARCEL_LIMIT = 9


class ParcelBox:
    """A box."""

    first = 1
{FIELDS}

    def seal_parcel(self, tape):
        """Seal the parcel with tape.

        Tape is cut to size.
        It is glued.
        It is pressed.
        It is checked.
        """
        self.tape = tape
        return self.press_tape(tape)

    def press_tape(self, tape):
        return tape + 1


class ParcelSeal:
    tape = 1
    seal_parcel = 2


def pack_parcel(parcel):
    """Pack a parcel of any weight."""
{LONG}

    def count_inside():
        first = 1
        second = 2
        third = 3
        fourth = 4
        return first

    return parcel


def weigh_parcel(parcel, at):
    return parcel.weight + at


def label_parcel(parcel, address):
    parcel.label = address
    return print_label(parcel)


def print_label(parcel):
    for line in parcel.label:
        print(line)
    return parcel
''',
    "shop/old.py": "def label_parcel(parcel, address):\n    parcel.label = address\n    return print_label(parcel)\n",
    "src/send.ts": "export function sendParcel(parcel: Parcel): number {\n  const fee = parcel.fee;\n  return courier(parcel, fee);\n}\n",
    "dist/send.js": "function sendParcel(parcel) {\n  const fee = parcel.fee;\n  return courier(parcel, fee);\n}\n"
    + "".join(f"function sendParcel{at}(parcel) {{\n  return courier(parcel, {at});\n}}\n" for at in range(9)),
    "types/send.d.ts": "export interface SendParcel {\n  parcel: Parcel;\n  fee: number;\n}\n",
    "dist/only.js": "function refundCustomer(customer) {\n  customer.money += 1;\n  return customer;\n}\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("shop")
    write(root, FILES)
    return serve(root)


def names(answer, part: str = "code") -> list[str]:
    return [entry["name"] for entry in answer[part]]


def entry_of(answer, name: str) -> dict[str, Any]:
    return next(entry for entry in answer["code"] if entry["name"] == name)


def text_of(entry) -> str:
    return "\n".join(piece["text"] for piece in entry["pieces"])


def test_a_type_is_shown_if_it_is_named_or_small(shop):
    answer = ask(shop, "seal a parcel with tape")
    assert "ParcelBox" in names(answer, "map")
    assert "ParcelBox" not in names(answer)
    assert "ParcelSeal" in names(answer)
    assert "ParcelBox" in names(ask(shop, "what does a ParcelBox hold"))


def test_of_a_named_type_with_a_named_function_the_function_is_shown(shop):
    answer = ask(shop, "ParcelBox seal_parcel with tape")
    assert "ParcelBox" in names(answer, "map")
    assert "ParcelBox.seal_parcel" in names(answer)
    assert "ParcelBox" not in names(answer)


def test_of_copies_the_first_is_shown_and_the_others_are_named(shop):
    answer = ask(shop, "label a parcel with an address")
    assert names(answer).count("label_parcel") == 1
    entry = entry_of(answer, "label_parcel")
    assert re.fullmatch(r"same in shop/(?:old|parcel)\.py:\d+", entry["note"])
    assert entry["note"] in render("cortex_search", answer)


def test_a_long_definition_that_is_not_named_leaves_half_of_the_bytes(shop):
    answer = ask(shop, "pack and weigh a parcel", max_tokens=600)
    assert {"pack_parcel", "weigh_parcel"} <= set(names(answer))
    assert len(names(answer)) >= 3
    long = entry_of(answer, "pack_parcel")
    assert len(text_of(long).encode()) <= 1_200


def test_a_definition_of_two_lines_among_the_first_is_always_shown(shop):
    for most in (300, 400, 600, 900):
        answer = ask(shop, "pack and weigh a parcel", max_tokens=most)
        if "weigh_parcel" in names(answer, "map")[:3]:
            assert "weigh_parcel" in names(answer)


def test_a_nested_definition_of_a_shown_one_is_a_row(shop):
    entry = entry_of(ask(shop, "pack_parcel", max_tokens=4_000), "pack_parcel")
    assert "def count_inside" not in text_of(entry)
    (row,) = (row for row in entry["outline"] if row["text"] == "    def count_inside():")
    assert row["end"] - row["start"] == 5


def test_a_long_docstring_is_its_beginning(shop):
    answer = ask(shop, "seal a parcel with tape")
    entry = entry_of(answer, "ParcelBox.seal_parcel")
    assert '"""Seal the parcel with tape.' in text_of(entry)
    assert "It is glued" not in text_of(entry)
    assert "return self.press_tape(tape)" in text_of(entry)
    assert re.search(r"^  \d+-\d+ +…$", render("cortex_search", answer), re.MULTILINE)


def test_built_copies_and_declarations_follow_the_sources(shop):
    answer = ask(shop, "send a parcel by courier for a fee")
    files = [line["file"] for line in answer["map"]]
    copies = [file.startswith(("dist/", "types/")) for file in files]
    assert copies == sorted(copies)
    assert files[0] == "src/send.ts"
    assert answer["code"][0]["file"] == "src/send.ts"


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("dist/send.js courier fee", "dist/send.js"),
        ("send a parcel by courier in dist", "dist/send.js"),
        ("the .d.ts of send parcel fee", "types/send.d.ts"),
        ("refund a customer", "dist/only.js"),
    ],
)
def test_a_built_copy_comes_first_if_it_is_named_or_alone(shop, query, first):
    answer = ask(shop, query)
    assert first in [line["file"] for line in answer["map"][:3]]


@pytest.mark.parametrize(
    ("query", "file", "first"),
    [
        ("shop/old.py", "shop/old.py", "label_parcel"),
        ("./shop/old.py", "shop/old.py", "label_parcel"),
        ("`old.py`", "shop/old.py", "label_parcel"),
        ("shop/parcel.py:71", "shop/parcel.py", "pack_parcel"),
    ],
)
def test_a_path_alone_is_answered_by_its_file_alone(shop, query, file, first):
    answer = ask(shop, query)
    assert {entry["file"] for entry in answer["map"] + answer["code"]} == {file}
    assert answer["code"][0]["name"] == first


def test_the_sections_of_a_document_are_code_if_its_path_is_asked_for(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("pages")
    page = ".. _fees:\n\n" + "".join(f"{title}\n====\n\nFees are {title}.\n\n" for title in ("Low ", "High"))
    write(root, {"docs/fees.rst": page, "rates.py": "def find_rate():\n    return 1\n"})
    answer = ask(serve(root), "docs/fees.rst")
    assert {"Low", "High"} <= set(names(answer, "map"))
    assert "Fees are High." in "".join(map(text_of, answer["code"]))


def test_a_path_of_no_file_is_not_read_as_one_of_the_root(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("roots")
    rates = "def find_rate():\n    return 1\n"
    write(root, {"rates.py": rates, "shop/fees.py": rates.replace("find_rate", "shop_rates")})
    served = serve(root)
    assert {entry["file"] for entry in ask(served, f"{root}/rates.py")["map"]} == {"rates.py"}
    assert {entry["file"] for entry in ask(served, "shop/rates.py")["map"]} == {"rates.py", "shop/fees.py"}


def test_the_definitions_of_an_operator_come_first(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("operators")
    (root / "date.h").write_text(
        "struct Date {\n    bool operator<=(const Date& other) const { return day <= other.day; }\n"
        "    bool operator<(const Date& other) const { return day < other.day; }\n"
        "    int operator()(int n) const { return day + n; }\n    int day;\n};\n"
    )
    (root / "money.py").write_text(
        "class Money:\n    def __lt__(self, other):\n        return self.n < other.n\n\n    def lower(self):\n        return 1\n"
    )
    (root / "sum.swift").write_text(
        "struct Sum {\n    static func + (a: Sum, b: Sum) -> Sum {\n        return Sum()\n    }\n}\n"
    )
    served = serve(root)
    firsts = {
        query: {row["name"] for row in ask(served, query)["map"][:count]}
        for query, count in (("operator<", 2), ("<", 2), ("operator()", 1), ("static func +", 1))
    }
    assert firsts == {
        "operator<": {"Date.operator<", "Money.__lt__"},
        "<": {"Date.operator<", "Money.__lt__"},
        "operator()": {"Date.operator()"},
        "static func +": {"Sum"},
    }
