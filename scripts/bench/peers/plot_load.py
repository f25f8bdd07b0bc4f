"""A plot of calls a second and p95 against clients, from load.py: plot_load.py SVG RESULT …"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams |= {"svg.hashsalt": "cortex", "svg.fonttype": "none", "font.size": 10}

from matplotlib import pyplot as plt  # noqa: E402 - after the settings
from matplotlib.ticker import LogFormatter  # noqa: E402

#: names of load.py's mixes in the picture
CALLED = {"day": "a day of agents", "search": "/v1/search"}


def main() -> None:
    picture, *results = map(Path, sys.argv[1:])
    figure, (above, below) = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
    for result in results:
        figures = json.loads(result.read_bytes())
        for mix, called in CALLED.items():
            rows = [row for row in figures["rows"] if row["mix"] == mix]
            files = f"{figures['files']:,}".replace(",", " ")
            label, at = f"{called}, {files} files", [row["clients"] for row in rows]
            above.plot(at, [row["calls_s"] for row in rows], marker="o", label=label)
            below.plot(at, [row["p95_ms"] for row in rows], marker="o", label=label)
    clients = sorted(
        {row["clients"] for result in results for row in json.loads(result.read_bytes())["rows"]}
    )
    for axes, title in ((above, "calls a second"), (below, "p95, ms")):
        axes.set_xscale("log", base=2)
        axes.set_xticks(clients, [str(count) for count in clients])
        axes.set_xlabel("clients")
        axes.set_title(title)
        axes.grid(visible=True, alpha=0.3)
    above.set_ylim(bottom=0)
    below.set_yscale("log")
    for formatted in (below.yaxis.set_major_formatter, below.yaxis.set_minor_formatter):
        formatted(LogFormatter(minor_thresholds=(2, 0.5)))
    above.legend(fontsize=8)
    machine = figures["machine"]
    figure.suptitle(
        f"cortex serve, {machine['cores']} cores that the clients share, load {machine['load']} before, commit {figures['commit']}",
        fontsize=9,
    )
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
