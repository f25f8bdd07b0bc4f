"""Prepare the repositories of the tasks for each arm, and index them.

    scripts/bench/agents/prepare.py --mirrors DIR --work DIR [--arm ARM …] [--repo OWNER/NAME …]
    scripts/bench/agents/prepare.py --work DIR --stop        end Cortex' processes of all trees

DIR of `--mirrors` holds DIR/<owner>+<name>/repo. Each arm gets its own tree below `--work`, at the
task's revision, with the history up to it and nothing later; where a mirror lacks objects of the
history, the revision is the only commit. Cortex is connected by `cortex install`, with a home of
its own, and its entry is kept; codegraph (npm) builds its index. Nothing of a repository enters
this project.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "agents")]

from arms import ARMS, codegraph_command, cortex_environment, tree_of  # noqa: E402 - scripts are no package
from records import faults, read_tasks  # noqa: E402

#: seconds for one index
INDEX_S = 1200
#: seconds for a git command
GIT_S = 300
CORTEX = Path(sys.executable).parent / "cortex"


def plant(mirror: Path, repo: str, revision: str, tree: Path) -> None:
    """Write a repository at a revision, with its history up to it; keep a tree that is there."""
    if (tree / ".git").exists():
        return
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    git = ["git", "-C", str(tree), "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    subprocess.run([*git, "init", "--quiet", "--initial-branch=main"], check=True)
    fetched = subprocess.run(
        [*git, "fetch", "--quiet", "--no-tags", str(mirror.resolve()), revision],
        check=False,
        capture_output=True,
    )
    if fetched.returncode == 0:
        subprocess.run([*git, "checkout", "--quiet", "-B", "main", revision], check=True)
        (tree / ".git" / "FETCH_HEAD").unlink(missing_ok=True)
        return
    plain = tree.with_name(f"{tree.name}.plain")
    check_out(mirror, revision, plain)
    shutil.copytree(plain, tree, dirs_exist_ok=True, symlinks=True)
    shutil.rmtree(plain)
    subprocess.run([*git, "add", "--all", "--force"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--no-verify", "-m", f"{repo} at {revision}"], check=True)


def check_out(mirror: Path, revision: str, folder: Path) -> Path:
    """Write the files of a mirror's revision, once; return the folder.

    Files whose objects the mirror lacks are left out.
    """
    if folder.exists():
        return folder
    making = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    git = ["git", "--git-dir", _git_dir(mirror), "--work-tree", making, "-c", "core.bare=false"]
    with tempfile.TemporaryDirectory(prefix="cortex-bench-") as scratch:
        environment = os.environ | {"GIT_INDEX_FILE": str(Path(scratch, "index"))}
        for arguments in (["read-tree", revision], ["checkout-index", "--all", "--force"]):
            subprocess.run(
                [*git, *arguments], check=False, capture_output=True, timeout=GIT_S, env=environment
            )
    if not any(making.iterdir()):
        raise SystemExit(f"nothing could be checked out of {mirror} at {revision}")
    making.rename(folder)
    return folder


def _git_dir(mirror: Path) -> Path:
    return mirror / ".git" if (mirror / ".git").exists() else mirror


def index(arm: str, tree: Path, work: Path) -> None:
    if "cortex" in ARMS[arm].tools:
        environment = cortex_environment(work)
        for command in (["install", "--yes", "claude-code"], ["--project", str(tree), "index"]):
            subprocess.run(
                [str(CORTEX), *command],
                cwd=tree,
                env=environment,
                check=True,
                stdin=subprocess.DEVNULL,
                timeout=INDEX_S,
            )
    if "codegraph" in ARMS[arm].tools:
        command, variables = codegraph_command()
        subprocess.run(
            [*command, "init", "."], cwd=tree, env=os.environ | variables, check=True, timeout=INDEX_S
        )


def stop(work: Path) -> None:
    for tree in sorted((work.resolve() / "trees" / "cortex").glob("*")):
        command = [str(CORTEX), "down", "--project", str(tree)]
        subprocess.run(command, env=cortex_environment(work), check=False, timeout=INDEX_S)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mirrors", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--arm", action="append", default=[], choices=ARMS, help="may be repeated")
    parser.add_argument("--repo", action="append", default=[], help="may be repeated; default: all")
    parser.add_argument("--stop", action="store_true", help="end Cortex' processes of all trees")
    options = parser.parse_args()
    if options.stop:
        stop(options.work)
        return 0
    if not options.mirrors:
        parser.error("--mirrors is missing")
    wrong: list[str] = []
    trees = {(task.repo, task.revision) for task in read_tasks()}
    for repo, revision in sorted(trees):
        if options.repo and repo not in options.repo:
            continue
        mirror = options.mirrors / repo.replace("/", "+") / "repo"
        if not mirror.is_dir():
            raise SystemExit(f"{mirror} is missing; fetch {repo} there")
        tasks = [task for task in read_tasks() if (task.repo, task.revision) == (repo, revision)]
        for arm in options.arm or ARMS:
            tree = tree_of(options.work, arm, repo, revision)
            plant(mirror, repo, revision, tree)
            wrong += faults(tasks, tree)
            index(arm, tree, options.work)
            print(f"{repo} at {revision[:9]} for {arm}: {tree}", flush=True)
    print("\n".join(dict.fromkeys(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
