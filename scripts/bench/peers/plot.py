"""Plots of results: plot.py load|speed SVG RESULT …"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams |= {"svg.hashsalt": "cortex", "svg.fonttype": "none", "font.size": 10}

from matplotlib import pyplot as plt  # noqa: E402 - after the settings
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.ticker import LogFormatter  # noqa: E402

#: names of load.py's mixes in the picture
CALLED = {"day": "a day of agents", "search": "/v1/search"}
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

Figures = dict[str, Any]


def plot_load(results: Sequence[Figures]) -> plt.Figure:
    """Plot calls a second and p95 against clients."""
    figure, (above, below) = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
    for figures in results:
        for mix, called in CALLED.items():
            rows = [row for row in figures["rows"] if row["mix"] == mix]
            files = f"{figures['files']:,}".replace(",", " ")
            label, at = f"{called}, {files} files", [row["clients"] for row in rows]
            above.plot(at, [row["calls_s"] for row in rows], marker="o", label=label)
            below.plot(at, [row["p95_ms"] for row in rows], marker="o", label=label)
    clients = sorted({row["clients"] for figures in results for row in figures["rows"]})
    for axes, title in ((above, "calls a second"), (below, "p95, ms")):
        axes.set_xscale("log", base=2)
        axes.set_xticks(clients, [str(count) for count in clients])
        label_axes(axes, "clients", title)
    above.set_ylim(bottom=0)
    scale_to_logs(below)
    above.legend(fontsize=8)
    machine = figures["machine"]
    figure.suptitle(
        f"cortex serve, {machine['cores']} cores that the clients share, load {machine['load']} before, commit {figures['commit']}",
        fontsize=9,
    )
    return figure


def plot_speed(results: Sequence[Figures]) -> plt.Figure:
    """Plot the times of questions and of a first index at several sizes."""
    [figures] = results
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
        label_axes(axes, "chunks", title)
        axes.legend(fontsize=7)
        scale_to_logs(axes)
    machine = figures["machine"]
    figure.suptitle(
        f"{machine['cores']} cores, load {machine['load']} before, commit {figures['commit']}", fontsize=9
    )
    return figure


def label_axes(axes: Axes, below: str, title: str) -> None:
    axes.set_xlabel(below)
    axes.set_title(title)
    axes.grid(visible=True, alpha=0.3)


def scale_to_logs(axes: Axes) -> None:
    axes.set_yscale("log")
    for formatted in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        formatted(LogFormatter(minor_thresholds=(2, 0.5)))


if __name__ == "__main__":
    name, picture, *files = sys.argv[1:]
    plot = {"load": plot_load, "speed": plot_speed}[name]
    plot([json.loads(Path(file).read_bytes()) for file in files]).savefig(picture, metadata={"Date": None})
