"""The lines of standard input: every invalid one gets a JSON-RPC error, with its id if that is
clear.
"""

import asyncio
import os

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import jsonrpc_message_adapter

from cortex.front.mcp.stdio import Wire
from cortex.front.mcp.transport.lines import LINE_BYTES_MAX, InvalidLine, Line, Splitter, check, find_id

DEEP = '{"jsonrpc":"2.0","id":7,"method":"ping","params":' + '{"a":' * 100_000 + "1" + "}" * 100_001
LONG = '{"jsonrpc":"2.0","id":8,"method":"ping","params":{"a":"' + "x" * 17_000_000 + '"}}'
#: line, code, id
BROKEN = [
    ("nonsense", -32700, None),
    ('{"jsonrpc":"2.0","id":1,"method":"ping"', -32700, 1),
    ('{"method": "ping", "params": {"id": 5}, "id": "a,b", oops', -32700, "a,b"),
    ('{"jsonrpc":"2.0","id":1', -32700, None),
    ('{"jsonrpc":"2.0","id":1,"result":{', -32700, None),
    ('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"\\ud800"}}', -32700, 2),
    (DEEP, -32700, 7),
    ('{"jsonrpc":"2.0","id":6,"method":"p","params":' + '{"a":' * 300 + "1" + "}" * 301, -32700, 6),
    ("[]", -32600, None),
    ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
    ("3", -32600, None),
    ("{}", -32600, None),
    ('{"jsonrpc":"1.0","id":3,"method":"ping"}', -32600, 3),
    ('{"jsonrpc":"2.0","id":3,"method":4}', -32600, 3),
    ('{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}', -32600, 3),
    ('{"jsonrpc":"2.0","id":"x","method":"ping","params":"a"}', -32600, "x"),
    ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
    ('{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
    ('{"jsonrpc":"2.0","id":4,"result":3}', -32600, None),
    ('{"jsonrpc":"2.0","id":4}', -32600, None),
]


@pytest.mark.parametrize(("text", "code", "number"), BROKEN, ids=lambda value: str(value)[:60])
def test_a_line_that_is_no_message_is_refused_with_its_id(text, code, number):
    with pytest.raises(InvalidLine) as caught:
        check(Line(text))
    answer = orjson.loads(caught.value.answer())
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", number, code)
    assert answer["error"]["message"].endswith(".")


def lines_of(data, size):
    splitter = Splitter()
    blocks = (data[at : at + size] for at in range(0, len(data), size))
    return [line for block in blocks for line in splitter.feed(block)] + list(splitter.finish())


def test_a_line_that_is_too_long_gets_one_error_and_the_next_line_is_read():
    data = LONG.encode() + b'\n{"jsonrpc":"2.0","id":9,"method":"ping"}\n'
    assert len(LONG) > LINE_BYTES_MAX
    long, short = lines_of(data, 65_536)
    with pytest.raises(InvalidLine, match="16 MiB") as caught:
        check(long)
    assert (caught.value.code, caught.value.number) == (-32600, 8)
    assert check(short)


@given(st.binary(max_size=200), st.integers(1, 50))
def test_lines_do_not_depend_on_how_they_arrive(data, size):
    assert [line.text for line in lines_of(data, size)] == [line.text for line in lines_of(data, 1000)]


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ('{"jsonrpc":"2.0","id":1,"method":"ping"}', True),
        ('{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}', True),
        ('{"jsonrpc":"2.0","method":"notifications/initialized"}', False),
        ('{"jsonrpc":"2.0","id":1,"result":{}}', False),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}', False),
    ],
)
def test_a_message_is_let_through(text, asks):
    assert check(Line(text)) is asks


@given(
    st.dictionaries(
        st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]),
        st.one_of(st.none(), st.booleans(), st.integers(), st.just("2.0"), st.text(max_size=3), st.just({})),
    )
)
def test_accepted_lines_are_valid_messages_for_the_sdk(message):
    text = orjson.dumps(message).decode() if all_fit(message) else "{}"
    try:
        asks = check(Line(text))
    except InvalidLine:
        return
    taken = jsonrpc_message_adapter.validate_json(text, by_name=False)
    assert asks == (hasattr(taken, "id") and hasattr(taken, "method"))


def all_fit(message):
    """Whether orjson can write the value: its numbers have at most 64 bits."""
    return all(not isinstance(value, int) or -(2**63) <= value < 2**64 for value in message.values())


def test_an_id_inside_the_parameters_is_not_the_messages():
    assert find_id('{"method":"x","params":{"id":5},') is None
    assert find_id('{"method":"x","params":{"id":5},"id":6}') == 6


def test_every_broken_line_is_answered_and_the_messages_between_them_are_passed_on():
    good = '{"jsonrpc":"2.0","method":"notifications/initialized"}'

    async def arrive():
        for text, _, _ in BROKEN:
            yield Line(text)
            yield Line(good)

    async def run(write):
        wire = Wire(write, 5.0, refused=lambda: counted.append(1))
        wire.take(arrive())
        return [line async for line in wire]

    counted = []

    read, write = os.pipe()
    passed = asyncio.run(asyncio.wait_for(run(write), 30))
    os.close(write)
    with os.fdopen(read, "rb") as output:
        answers = [orjson.loads(line) for line in output]
    assert passed == [good] * len(BROKEN)
    assert len(counted) == len(BROKEN)
    assert [(answer["error"]["code"], answer["id"]) for answer in answers] == [
        broken[1:] for broken in BROKEN
    ]
