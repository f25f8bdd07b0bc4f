"""A program that makes docs/session.svg: a real shell session as an animated picture.

    python scripts/picture.py [--out FILE]

Runs commands on a copy of two folders of this repository, in a separate environment, and draws
their output with its colours. The picture needs no script: CSS shows each line at its time, and all
lines at once for readers who prefer reduced motion.
"""

from __future__ import annotations

import argparse
import html
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.style import Style
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "docs" / "session.svg"
#: folders that the commands search, and the commands
FOLDERS = ("cortex/system", "cortex/settings")
COMMANDS = (
    "cortex search 'open a file without following a link' -k 2",
    "cortex graph callers read_plain -k 3",
    "cortex exact INDEX_FORMAT -k 2",
)
LABEL = "A session of the shell: cortex search, cortex graph callers, cortex exact"
#: at most: characters of a line, lines of one answer, bytes of the picture
COLUMNS, LINES, BYTES_MAX = 100, 11, 150_000
#: pixels of a character and of a line
WIDTH, HEIGHT = 7.83, 18
#: seconds for a typed character, before an answer, for a line of the answer, and at the end
TYPE_S, THINK_S, LINE_S, READ_S = 0.03, 0.3, 0.04, 2.0
#: seconds that a command may take: the first starts workers and makes the index
COMMAND_S = 120
PAPER, INK, PROMPT = "#0d1117", "#c9d1d9", "#7ee787"
COLOURS = {"red": "#ff7b72", "green": "#7ee787", "yellow": "#e3b341", "blue": "#79c0ff",
           "magenta": "#d2a8ff", "cyan": "#76e3ea"}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=PLACE)
    options = parser.parse_args()
    drawn = draw(session())
    if len(drawn.encode()) > BYTES_MAX:
        print(f"The picture has {len(drawn.encode())} bytes, more than {BYTES_MAX}.", file=sys.stderr)
        return 1
    options.out.write_text(drawn)
    print(f"{options.out}: {len(drawn.encode())} bytes")
    return 0


def session() -> list[tuple[str, list[str]]]:
    """Return (command, lines of its output) of each command."""
    with tempfile.TemporaryDirectory(prefix="cx", dir="/tmp") as folder:
        project = Path(folder) / "project"
        for name in FOLDERS:
            shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
        (project / ".git").mkdir()
        env = os.environ | {
            "CORTEX_HOME": f"{folder}/home",
            "XDG_RUNTIME_DIR": folder,
            "XDG_CONFIG_HOME": folder,
            "CORTEX_MEMORY_DATA_DIR": f"{folder}/memory",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "FORCE_COLOR": "1",
            "COLUMNS": str(COLUMNS),
        }
        try:
            _run("cortex index", project, env)
            return [(command, _run(command, project, env)) for command in COMMANDS]
        finally:
            subprocess.run("cortex down", shell=True, cwd=project, env=env, check=False, stdout=-3)


def _run(command: str, project: Path, env: dict[str, str]) -> list[str]:
    done = subprocess.run(
        command,
        shell=True,
        cwd=project,
        env=env,
        check=True,
        capture_output=True,
        text=True,
        timeout=COMMAND_S,
    )
    lines = done.stdout.rstrip("\n").split("\n")
    return lines if len(lines) <= LINES else [*lines[: LINES - 1], "…"]


def draw(recorded: list[tuple[str, list[str]]], *, label: str = LABEL, prompt: str = "$") -> str:
    """Return the SVG."""
    lines = list(_with_times(recorded, prompt))
    high = HEIGHT * (len(lines) + 2)
    body = "\n".join(
        f'<text y="{HEIGHT * (row + 2)}" x="14" style="animation-delay:{at:.2f}s">{spans}</text>'
        for row, (at, spans) in enumerate(lines)
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH * COLUMNS + 28:.0f} {high}" role="img"
 aria-label="{html.escape(label)}">
<style>
text {{ font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: {INK}; white-space: pre;
 opacity: 0; animation: show 1ms forwards }}
@keyframes show {{ to {{ opacity: 1 }} }}
@media (prefers-reduced-motion: reduce) {{ text {{ opacity: 1; animation: none }} }}
</style>
<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>
{body}
</svg>
"""


def _with_times(recorded: list[tuple[str, list[str]]], prompt: str) -> Iterator[tuple[float, str]]:
    """Yield (seconds, spans) of each line."""
    at = 0.5
    for command, answer in recorded:
        yield at, f'<tspan fill="{PROMPT}">{prompt}</tspan> {html.escape(command)}'
        at += TYPE_S * len(command) + THINK_S
        for line in answer:
            yield at, _spans(line)
            at += LINE_S
        yield at, ""
        at += READ_S


def _spans(line: str) -> str:
    text = Text.from_ansi(line)
    text.truncate(COLUMNS, overflow="ellipsis")
    marks = sorted({0, len(text), *(edge for span in text.spans for edge in (span.start, span.end))})
    out = []
    for begin, end in itertools.pairwise(marks):
        styles = [
            Style.parse(str(styled.style)) for styled in text.spans if styled.start <= begin < styled.end
        ]
        style = Style.combine([Style.null(), *styles])
        attributes = _attributes(style)
        piece = html.escape(text.plain[begin:end])
        out.append(f"<tspan{attributes}>{piece}</tspan>" if attributes else piece)
    return "".join(out)


def _attributes(style: Style) -> str:
    colour = COLOURS.get(style.color.name.removeprefix("bright_")) if style.color else None
    return "".join(
        [
            f' fill="{colour}"' if colour else "",
            ' font-weight="bold"' if style.bold else "",
            ' opacity=".6"' if style.dim else "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
