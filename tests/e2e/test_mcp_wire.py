"""Lines over real standard input and output: broken ones, every version of the protocol, and the
MCP Inspector's command line.
"""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import psutil
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

pytestmark = pytest.mark.e2e

CORTEX = str(Path(sys.executable).parent / "cortex")
#: line, code and id of its error; tests/front/test_lines.py has more
BROKEN = [
    ("nonsense", -32700, None),
    ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
    ('{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}', -32600, 3),
    ('{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"\\ud800"}}', -32700, 4),
    ('{"jsonrpc":"2.0","id":7,"method":"x","params":' + '{"a":' * 100_000 + "1" + "}" * 100_001, -32700, 7),
    ('{"jsonrpc":"2.0","id":8,"method":"x","params":{"a":"' + "x" * 17_000_000 + '"}}', -32600, 8),
]


def speak(project, *lines):
    """Return a front's answers to `lines`; the front then ends by itself."""
    front = project.spawn(
        "mcp", "--project", str(project.root), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    out, _ = front.communicate("".join(f"{line}\n" for line in lines).encode(), timeout=60)
    assert front.returncode == 0
    return [orjson.loads(line) for line in out.splitlines()]


def hello(version, number=1):
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    message = {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}
    return orjson.dumps(message).decode(), '{"jsonrpc":"2.0","method":"notifications/initialized"}'


def test_each_broken_line_gets_its_error_and_the_front_ends_when_its_input_does(shared_project):
    ping = '{"jsonrpc":"2.0","id":99,"method":"ping"}'
    wrong = '{"jsonrpc":"2.0","id":98,"method":"tools/call","params":{"arguments":{}}}'
    texts = [text for text, _, _ in BROKEN]
    answers = speak(shared_project, *hello("2025-11-25"), *texts, wrong, ping)
    errors = [
        (answer["error"]["code"], answer["id"])
        for answer in answers
        if "error" in answer and answer["id"] != 98
    ]
    assert errors == [broken[1:] for broken in BROKEN]
    assert next(answer["error"]["code"] for answer in answers if answer.get("id") == 98) == -32602
    assert next(answer["result"] for answer in answers if answer.get("id") == 99) == {}


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_every_version_with_a_handshake_is_served(shared_project, version):
    listing = [
        f'{{"jsonrpc":"2.0","id":{number},"method":"{method}"}}'
        for number, method in enumerate(("tools/list", "resources/list", "prompts/list"), 2)
    ]
    answers = {answer["id"]: answer for answer in speak(shared_project, *hello(version), *listing)}
    assert answers[1]["result"]["protocolVersion"] == version
    offered = answers[1]["result"]["capabilities"]
    assert {"tools", "resources", "prompts", "logging"} <= set(offered)
    assert "cortex_search" in {tool["name"] for tool in answers[2]["result"]["tools"]}
    assert answers[3]["result"]["resources"][0]["uri"] == "cortex://outline/"
    assert len(answers[4]["result"]["prompts"]) == 3


@pytest.mark.parametrize("mode", ["legacy", *MODERN_PROTOCOL_VERSIONS])
def test_the_official_client_reads_hears_and_completes_in_either_era(project, mode):
    heard = []
    stopped = []

    async def hear(progress, total, message):
        heard.append(progress)
        stopped[0].resume()

    async def ask():
        parameters = StdioServerParameters(
            command=CORTEX, args=["mcp", "--project", str(project.root)], env=project.environment
        )
        async with Client(stdio_client(parameters), mode=mode) as client, asyncio.timeout(60):
            refused = await client.call_tool("cortex_search", {"query": "x", "color": "red"})
            while not (await client.call_tool("cortex_outline", {})).content[0].text.count("login.py"):
                await asyncio.sleep(0.05)
            stopped.append(psutil.Process(project.member("graph")["pid"]))
            stopped[0].suspend()  # until the client has the message that its call goes on
            await client.call_tool("cortex_outline", {}, progress_callback=hear)
            map_ = await client.read_resource("cortex://outline/auth/login.py")
            prompt = await client.get_prompt("explain-module", {"module": "auth"})
            return refused, map_.contents[0].text, prompt.messages[0].content.text

    refused, text, prompt = asyncio.run(ask())
    assert refused.is_error
    assert "check_password" in text
    assert "auth" in prompt
    assert heard
    assert heard == sorted(set(heard))


def test_the_inspectors_command_line_lists_and_calls(shared_project):
    inspector = shutil.which("mcp-inspector")
    if inspector is None:
        pytest.skip("the MCP Inspector is not installed: npm install -g @modelcontextprotocol/inspector")

    def inspect(*arguments):
        command = [inspector, "--cli", CORTEX, "mcp", "--project", str(shared_project.root), *arguments]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert result.returncode == 0, result.stderr
        return orjson.loads(result.stdout)

    tools = inspect("--method", "tools/list")["tools"]
    assert "cortex_search" in {tool["name"] for tool in tools}
    assert inspect("--method", "prompts/list")["prompts"]
    call = ("--method", "tools/call", "--tool-name", "cortex_exact", "--tool-arg", "query=jitter")
    assert orjson.loads(inspect(*call)["content"][0]["text"])["query"] == "jitter"
