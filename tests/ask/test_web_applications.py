"""Questions about applications of Rails, Laravel and ASP.NET, as an agent asks them."""

import asyncio

import orjson
import pytest

from cortex.ask.reading.read import Read, read
from cortex.ask.references.uses import UsesQuestion, uses
from tests.ask.searched import write


def read_symbols(served, symbols):
    """Return the entries of a read."""
    answer = asyncio.run(read(served.context(), Read(symbols)))
    return orjson.loads(orjson.dumps(answer))


def uses_of(served, symbol):
    answer = asyncio.run(uses(served.context(), UsesQuestion(symbol)))
    return orjson.loads(orjson.dumps(answer))


def places(answer):
    """Return the places of all uses of an answer."""
    return [
        f"{file['file']}:{site['line']}"
        for block in answer["sites"]
        for file in block["files"]
        for site in file["sites"]
    ]


STONES = {
    "a/stone.rb": "class Stone\n  def roll\n    1\n  end\n\n  def self./(other)\n    other\n  end\nend\n",
    "b/m1.rb": "class Create1\n  class Stone\n  end\n\n  def up\n    Stone.new\n  end\nend\n",
    "b/m2.rb": "class Create2\n  class Stone\n  end\nend\n",
    "c/run.rb": "def run\n  ::Stone.new.roll\nend\n",
    "c/twin1.rb": "module One\n  class Twin\n  end\nend\n",
    "c/twin2.rb": "module Two\n  class Twin\n  end\nend\n",
}


@pytest.fixture(scope="module")
def stones(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("stones")
    write(root, STONES)
    return serve(root)


def test_a_bare_name_is_the_class_outside_of_all_others(stones):
    (entry,) = read_symbols(stones, ["Stone"])["code"]
    assert (entry["file"], entry["start"]) == ("a/stone.rb", 1)
    answer = uses_of(stones, "Stone")
    assert [block["at"] for block in answer["sites"]] == ["a/stone.rb:1"]
    assert places(answer) == ["c/run.rb:2"]
    assert answer["notes"] == ["Also called 'Stone': Create1.Stone, Create2.Stone."]


@pytest.mark.parametrize(
    ("symbol", "at"),
    [
        ("Create1::Stone", ["b/m1.rb:2"]),
        ("Twin", ["c/twin1.rb:2", "c/twin2.rb:2"]),
        ("Stone./", ["a/stone.rb:6"]),
    ],
)
def test_other_names_mean_what_they_meant(stones, symbol, at):
    assert [block["at"] for block in uses_of(stones, symbol)["sites"]] == at
