"""Check the tasks and freeze their gold.

    scripts/bench/agents/gold.py check [--work DIR]     form, seal, and places in the prepared trees
    scripts/bench/agents/gold.py freeze                 write gold.sha256

Freeze in a commit before any arm is run. Every other program refuses tasks that differ from the
seal; after a change of a question or of its gold the earlier logs of the task count for nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "agents")]

from records import SEAL, TASKS, faults, form_faults, read_tasks, seal_of  # noqa: E402 - scripts are no package


def check_seal() -> None:
    """Raise SystemExit if the tasks are not the frozen ones."""
    if not SEAL.exists() or SEAL.read_text().split()[0] != seal_of(TASKS.read_bytes()):
        raise SystemExit(
            f"{TASKS.name} differs from {SEAL.name}; look at the change, then run gold.py freeze"
        )


def check(work: Path | None) -> list[str]:
    messages = form_faults(map(json.loads, TASKS.read_text(encoding="utf-8").splitlines()))
    for task in read_tasks() if work else ():
        assert work is not None
        trees = work / "trees"
        name = f"{task.repo.replace('/', '+')}-{task.revision[:9]}"
        for tree in sorted(trees.glob(f"*/{name}")):
            messages += faults([task], tree)
    return list(dict.fromkeys(messages))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("check", "freeze"))
    parser.add_argument("--work", type=Path, help="the folder that prepare.py filled")
    options = parser.parse_args()
    wrong = check(options.work)
    if wrong:
        print("\n".join(wrong))
        return 1
    if options.action == "freeze":
        SEAL.write_text(f"{seal_of(TASKS.read_bytes())}  {TASKS.name}\n")
    check_seal()
    tasks = read_tasks()
    print(f"{len(tasks)} tasks, {sum(len(task.gold) for task in tasks)} places")
    return 0


if __name__ == "__main__":
    sys.exit(main())
