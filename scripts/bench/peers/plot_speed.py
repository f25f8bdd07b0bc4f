"""A plot of speed.py's figures at several sizes: plot_speed.py SVG RESULT"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams |= {"svg.hashsalt": "cortex", "svg.fonttype": "none", "font.size": 10}

from matplotlib import pyplot as plt  # noqa: E402 - after the settings
from matplotlib.ticker import LogFormatter  # noqa: E402

#: rows of speed.py → their names in the picture, and line styles
DRAWN = {
    "search, 5 snippets": ("search", "C0-o"),
    "explore": ("explore", "C1-o"),
    "substring": ("substring", "C2-o"),
    "regex": ("expression", "C3-o"),
    "semble: search, 5 snippets": ("semble, search", "C0--s"),
    "ripgrep: substring": ("ripgrep, substring", "C2--s"),
    "ripgrep: regex": ("ripgrep, expression", "C3--s"),
}


def main() -> None:
    picture, result = map(Path, sys.argv[1:])
    figures = json.loads(result.read_bytes())
    sizes = sorted(figures["sizes"], key=lambda size: size["chunks"])
    chunks = [size["chunks"] for size in sizes]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for case, (called, style) in DRAWN.items():
        rows = [next((row for row in size["questions"] if row["case"] == case), None) for size in sizes]
        at = [(size, row["p50_ms"]) for size, row in zip(chunks, rows, strict=True) if row]
        if at:
            left.plot(*zip(*at, strict=True), style, label=called, markersize=4)
    right.plot(chunks, [size["searchable_s"] for size in sizes], "C0-o", label="until all is searchable")
    theirs = [(size["chunks"], size["semble"]["searchable_s"]) for size in sizes if "semble" in size]
    if theirs:
        right.plot(*zip(*theirs, strict=True), "C0--s", label="semble, first answer")
    for axes, title in ((left, "one question, p50, ms"), (right, "first index, s")):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("chunks")
        axes.set_title(title)
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize=7)
        for formatted in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            formatted(LogFormatter(minor_thresholds=(2, 0.5)))
    machine = figures["machine"]
    figure.suptitle(
        f"{machine['cores']} cores, load {machine['load']} before, commit {figures['commit']}", fontsize=9
    )
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
