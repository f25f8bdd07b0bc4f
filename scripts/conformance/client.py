"""A test of /openapi.json: a third-party generator makes a client, which then calls a server.

    python scripts/conformance/client.py

openapi-spec-validator checks the document; openapi-python-client makes the client, in a separate
environment. Every operation must be in it, without a warning.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import orjson

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent / "bench"))

from environments import lines_of, python_with  # noqa: E402 - scripts are no package
from product import RunningServer, run_server, scratch_project, wait_until_indexed  # noqa: E402
from synthetic import write_project  # noqa: E402

#: chunks of the project to search
CHUNKS = 120
#: program that runs with the generated client: URL, token
PROGRAM = """
import sys
from made.client import AuthenticatedClient
from made.api.default import cortex_exact, index_status, search_code, tools
from made.models import CortexExactBody, SearchCodeBody

with AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2], raise_on_unexpected_status=True) as client:
    found = search_code.sync_detailed(client=client, body=SearchCodeBody.from_dict({"query": "open a session"}))
    exact = cortex_exact.sync_detailed(client=client, body=CortexExactBody.from_dict({"query": "session"}))
    wrong = cortex_exact.sync_detailed(client=client, body=CortexExactBody.from_dict({"query": ""}))
    told = [index_status.sync_detailed(client=client), tools.sync_detailed(client=client)]
assert found.parsed["hits"] and exact.parsed["results"], (found, exact)
assert wrong.status_code == 400 and wrong.parsed.error.code == "bad_query", wrong
assert [one.status_code for one in told] == [200, 200], told
print("the generated client searched, asked a tool, was told what was wrong, and read the status")
"""


def check(server: RunningServer, folder: Path) -> int:
    """Return how many operations the client has. Raises SystemExit with the fault."""
    python = python_with("openapi", lines_of(FOLDER / "client.lock"))
    request = urllib.request.Request(
        f"{server.url}/openapi.json", headers={"Authorization": f"Bearer {server.token}"}
    )
    document = folder / "openapi.json"
    with urllib.request.urlopen(request, timeout=30.0) as reply:
        document.write_bytes(reply.read())
    run([python.parent / "openapi-spec-validator", document], folder)
    generate = [python.parent / "openapi-python-client", "generate", "--path", document, "--meta", "none"]
    settings = folder / "generator.yml"
    settings.write_text("post_hooks: []\n")
    output = run([*generate, "--output-path", folder / "made", "--config", settings], folder)
    if "WARNING" in output:
        raise SystemExit(output)
    run([python, "-c", PROGRAM, server.url, server.token], folder)
    wanted = sum(len(methods) for methods in orjson.loads(document.read_bytes())["paths"].values())
    count = len(list((folder / "made" / "api").rglob("[!_]*.py")))
    if count != wanted:
        raise SystemExit(f"{count} of {wanted} operations are in the client")
    return count


def run(command: list[object], folder: Path) -> str:
    done = subprocess.run(
        [str(argument) for argument in command], cwd=folder, capture_output=True, text=True, check=False
    )
    print(done.stdout.strip())
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with scratch_project() as root, tempfile.TemporaryDirectory(prefix="cortex-openapi-") as folder:
        write_project(root, CHUNKS)
        with run_server(root) as server:
            asyncio.run(wait_until_indexed(root))
            operations = check(server, Path(folder))
    print(f"openapi: valid, {operations} operations in the generated client")


if __name__ == "__main__":
    main()
