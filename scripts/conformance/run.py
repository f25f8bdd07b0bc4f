"""A runner of MCP's official conformance suite and the Inspector's command line; needs Node 22.

    python scripts/conformance/run.py [--keep FOLDER] [--json]

The suite runs in full against the server that it needs (fixture.py) over our gate, sessions and
streams, and against `cortex serve` itself, each in both eras of the protocol; a proxy adds the
token, which the suite cannot send. expected.yml lists the scenarios that fail, with the reason; an
unexpected failure, and an expected one that passes, end this program with 1. The Inspector speaks
to `cortex mcp` and to `cortex serve`. --keep writes the suite's output to that folder.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import orjson
import yaml

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent / "bench"))

from environments import node_with  # noqa: E402 - scripts are no package
from product import CORTEX, RunningServer, run_server, scratch_project, wait_until_indexed  # noqa: E402
from proxy import run_proxy  # noqa: E402
from report import add_json, begin, write  # noqa: E402
from synthetic import write_project  # noqa: E402

from cortex.processes import attach  # noqa: E402
from cortex.settings.config import load_data  # noqa: E402

NODE = "22.23.3"
SUITE, INSPECTOR = "@modelcontextprotocol/conformance", "@modelcontextprotocol/inspector"
PACKAGES = (f"{SUITE}@0.2.0-alpha.12", f"{INSPECTOR}@2.12.0")
ERAS = ("2025-11-25", "2026-07-28")
#: seconds for one run of the suite, and for one call of the Inspector
SUITE_S, CALL_S = 300.0, 60.0
#: milliseconds until the Inspector must have its handshake
CALL_MS = 45_000
#: chunks of the project that the Inspector searches
CHUNKS = 120
#: a line of the suite's summary: scenario, checks that passed, checks that failed
SUMMED = re.compile(r"[✓✗] (\S+): (\d+) passed, (\d+) failed")
#: calls of the Inspector: arguments, and a text in the answer
INSPECTOR_CALLS = (
    (("--method", "tools/list"), "cortex_search"),
    (
        ("--method", "tools/call", "--tool-name", "cortex_search", "--tool-arg", "query=open a session"),
        "results",
    ),
    (("--method", "resources/list"), "resources"),
    (("--method", "resources/templates/list"), "resourceTemplates"),
    (("--method", "prompts/list"), "prompts"),
)


@dataclass(frozen=True, slots=True)
class ForeignPrograms:
    """Third-party programs: Node and its modules; the suite writes to `kept`."""

    node: Path
    modules: Path
    output_folder: Path
    #: (leg, scenario, passed, failed) of the suite, and (way, call, answered 1 or 0, 0)
    outcomes: list[tuple[str, str, int, int]] = field(default_factory=list)

    def judge(self, leg: str, url: str, era: str, expected: dict[str, str]) -> bool:
        """Return whether the suite's result is the expected one."""
        listed = self.output_folder / f"{leg}-{era}.yml"
        listed.write_text(yaml.safe_dump({"server": list(expected)}))
        log = self.output_folder / f"{leg}-{era}.txt"
        command = [self.node, self.modules / SUITE / "dist" / "index.js", "server", "--url", url]
        command += ["--suite", "all", "--spec-version", era, "--expected-failures", listed]
        with log.open("wb") as file:
            done = subprocess.run(
                [*command, "-o", self.output_folder / f"{leg}-{era}"],
                stdout=file,
                stderr=subprocess.STDOUT,
                timeout=SUITE_S,
                env=os.environ | {"NO_COLOR": "1"},
                check=False,
            )
        summary = log.read_text().partition("=== SUMMARY ===")[2].strip()
        rows = SUMMED.findall(summary)
        self.outcomes.extend(
            (f"{leg} {era}", name, int(passed), int(failed)) for name, passed, failed in rows
        )
        print(f"\n=== {leg}, {era}: {'as expected' if not done.returncode else 'NOT as expected'}\n{summary}")
        for scenario in sorted(expected):
            print(f"expected to fail: {scenario}: {expected[scenario]}")
        return done.returncode == 0

    def inspect(self, way: str, target: Sequence[str], cwd: Path) -> bool:
        """Return whether the Inspector gets its answers."""
        bins = orjson.loads((self.modules / INSPECTOR / "package.json").read_bytes())["bin"]
        program = self.modules / INSPECTOR / bins["mcp-inspector"]
        well = True
        for arguments, holds in INSPECTOR_CALLS:
            done = subprocess.run(
                [self.node, program, "--cli", *target, *arguments, "--connect-timeout", str(CALL_MS)],
                cwd=cwd,
                capture_output=True,
                text=True,
                timeout=CALL_S,
                check=False,
            )
            answered = done.returncode == 0 and holds in done.stdout
            well &= answered
            self.outcomes.append((f"inspector {way}", arguments[1], int(answered), int(not answered)))
            print(
                f"inspector, {way}, {arguments[1]}: {'answered' if answered else 'FAILED ' + done.stderr[-500:]}"
            )
            (self.output_folder / f"inspector-{way}-{arguments[1].replace('/', '-')}.txt").write_text(
                done.stdout + done.stderr
            )
        return well


def judge(
    programs: ForeignPrograms, leg: str, server: RunningServer, expected: dict[str, dict[str, str]]
) -> bool:
    """Return whether a server answers the suite as expected, in both eras."""
    port = urlsplit(server.url).port
    assert port is not None
    with run_proxy(port, server.token) as open_port:
        url = f"http://127.0.0.1:{open_port}/mcp"
        return all([programs.judge(leg, url, era, expected[f"{leg} {era}"]) for era in ERAS])  # noqa: C419 - both run


def read_expected() -> dict[str, dict[str, str]]:
    """Return leg and era → scenario → why it fails."""
    legs = yaml.safe_load((FOLDER / "expected.yml").read_text())
    return {
        leg: {name: reason for reason, names in reasons.items() for name in names.split()}
        for leg, reasons in legs.items()
    }


def run(output_folder: Path, outcomes: list[tuple[str, str, int, int]]) -> bool:
    node, modules = node_with("conformance", PACKAGES, NODE)
    programs = ForeignPrograms(node, modules, output_folder, outcomes)
    expected = read_expected()
    with scratch_project(memory_data_dir=output_folder / "data") as root, contextlib.ExitStack() as ending:
        ending.callback(attach.stop, load_data())
        write_project(root, CHUNKS)
        fixture = [sys.executable, str(FOLDER / "fixture.py"), str(root)]
        with run_server(root, fixture) as server:
            well = judge(programs, "fixture", server, expected)
        with run_server(root) as server:
            asyncio.run(wait_until_indexed(root))
            well &= judge(programs, "product", server, expected)
            sent = f"Authorization: Bearer {server.token}"
            target = (f"{server.url}/mcp", "--transport", "http", "--header", sent)
            well &= programs.inspect("http", target, root)
        well &= programs.inspect("stdio", (CORTEX, "mcp"), root)
    return well


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="folder for the suite's output")
    add_json(parser)
    options = parser.parse_args()
    figures = begin("conformance") | {"packages": PACKAGES, "node": NODE}
    outcomes: list[tuple[str, str, int, int]] = []
    with tempfile.TemporaryDirectory(prefix="cortex-conformance-") as folder:
        output_folder = (options.keep or Path(folder)).resolve()
        output_folder.mkdir(parents=True, exist_ok=True)
        os.environ["CORTEX_PROJECT"] = ""
        well = run(output_folder, outcomes)
    if options.json:
        write(figures | {"as_expected": well, "rows": outcomes})
    print("\nconformance: as expected" if well else "\nconformance: NOT as expected")
    sys.exit(not well)


if __name__ == "__main__":
    main()
