"""Questions with a misspelled name of a definition."""

import asyncio

import pytest

from cortex.ask.references.uses import UsesQuestion, uses
from tests.ask.searched import ask, write

CALLS = "".join(f"def step_{at}(parcel):\n    return weigh_{at}(parcel)\n\n\n" for at in range(150))


@pytest.fixture(scope="module")
def shop(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("spelled")
    write(
        root,
        {
            "courier.py": "class ParcelCourier:\n    def deliver_later(self, day):\n        return day + 1\n",
            "shop.py": "from courier import ParcelCourier\n\n\ndef send(day):\n    return ParcelCourier().deliver_later(day)\n",
            "zeppelin.py": "class Zeppelin:\n    def inflate(self, gas):\n        return gas + 1\n",
            "get.py": "def read(options):\n    return options.get('a')\n",
            **{f"steps_{at}.py": CALLS.replace("parcel", f"box_{at}") for at in range(9)},
        },
    )
    return serve(root)


@pytest.mark.parametrize(
    ("query", "name", "word"),
    [
        ("Zepelin", "Zeppelin", "`Zepelin` as `Zeppelin`"),
        ("Zepelin.inflte", "Zeppelin.inflate", "`inflte` as `inflate`"),
    ],
)
def test_a_misspelled_name_is_read_as_that_of_a_definition(shop, query, name, word):
    answer = ask(shop, query)
    assert answer["map"][0]["name"] == name
    assert word in answer["suggestion"]


@pytest.mark.parametrize("query", ["ParcelCourier", "zebra_stripes", "ZebraStripes.count"])
def test_other_names_stay(shop, query):
    assert "read `" not in ask(shop, query).get("suggestion", "")


@pytest.mark.parametrize("symbol", ["ParcelCourier.deliver_latr", "deliver_latr"])
def test_uses_of_a_misspelled_name_are_those_of_the_definition(shop, symbol):
    answer = asyncio.run(uses(shop.context(), UsesQuestion(symbol)))
    (block,) = answer["sites"]
    assert (block["of"], block["files"][0]["file"]) == ("ParcelCourier.deliver_later", "shop.py")
    assert answer["notes"][0].startswith(f"There is no {symbol!r}: read as ")


def test_a_member_of_a_type_that_nothing_names_has_no_lines(shop):
    answer = asyncio.run(uses(shop.context(), UsesQuestion("ZebraStripes.get")))
    assert answer["sites"] == []
