"""Migration of an older store: it gets what `store.tables` has and the store lacks. It runs in a
separate process: the modules that make tables are needed rarely.
"""

import subprocess
import sys
from collections.abc import Callable

from cortex.memory.store.tables import VERSION
from cortex.system.errors import Misconfigured, Unavailable

#: seconds for a migration
MIGRATION_S = 600.0


def bring_up_to_date(
    version: str, label: str, arguments: tuple[str, ...], stdin: str, explain: Callable[[str], str]
) -> None:
    """Bring a store of the `version` to VERSION. `label` names it in messages; `arguments` and
    `stdin`: see `__main__`, on standard input because arguments are visible in a list of processes;
    `explain` makes a sentence of the error output. Raises Misconfigured for a newer store,
    Unavailable.
    """
    if version > VERSION:
        raise Misconfigured(
            f"The memory in {label} was written by a newer Cortex (version {version} of the store; this one "
            f"knows {VERSION}): upgrade this one."
        )
    command = [sys.executable, "-P", "-m", "cortex.memory.migrations", *arguments]
    try:
        done = subprocess.run(
            command, input=stdin.encode(), capture_output=True, timeout=MIGRATION_S, check=False, cwd="/"
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"The memory in {label} cannot be brought up to date: {error}.") from error
    if done.returncode:
        why = explain(done.stderr.decode(errors="replace").strip())
        raise Unavailable(f"The memory in {label} cannot be brought up to date: {why}")
