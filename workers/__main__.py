"""`cortex-worker NAME`: run one worker in the foreground, for the Procfile, the supervisor and load
tests.
"""

import argparse
import importlib
import logging
import sys

from cortex.processes.names import KINDS, MEMORY
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.data import DataFolder
from cortex.settings.folders.home import open_runtime
from cortex.system.errors import (
    ANEW,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OCCUPIED,
    EXIT_UNAVAILABLE,
    EXIT_USAGE,
    CortexError,
    Misconfigured,
    Occupied,
    Unavailable,
)
from cortex.system.process import re_exec
from cortex.system.terminal import escape_in_line, log_to_stderr
from ipc.service import serve


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="cortex-worker", description=__doc__)
    parser.add_argument("name", help="the worker's name")
    parser.add_argument("--project", help="the project's folder; default: found from the working folder")
    parser.add_argument("--data-dir", help="the memory's folder, for its worker; default: memory.data_dir")
    parser.add_argument("--replica", type=int, default=0, help="number of this replica")
    parser.add_argument(
        "--bind", default="", help="another address, e.g. tcp://127.0.0.1:7001, for load tests"
    )
    options = parser.parse_args(arguments)
    log_to_stderr(f"%(asctime)s {options.name} %(levelname)s %(message)s", logging.INFO)
    try:
        owner: Config | DataFolder
        if options.name in MEMORY.workers:
            flags = {"memory": {"data_dir": options.data_dir}} if options.data_dir else None
            owner = configuration.load_data(flags)
        else:
            owner = configuration.load(options.project)
        open_runtime(owner)
        name, module = owner.store_worker if isinstance(owner, Config) else ("", "")
        if options.name != name:
            module = f"workers.{options.name}"
            if options.name not in [worker for kind in KINDS.values() for worker in kind.workers]:
                parser.error(f"with this configuration there is no worker {options.name!r}")
        if options.replica and options.name in MEMORY.workers:
            parser.error("there is one memory worker only, for there is one owner of the store")
        worker = importlib.import_module(module).make(owner)
        code = serve(options.name, worker, owner.runtime_dir, replica=options.replica, bind=options.bind)
    except Occupied as error:
        print(escape_in_line(f"cortex-worker: {error}"), file=sys.stderr)
        return EXIT_OCCUPIED
    except Misconfigured as error:
        print(escape_in_line(f"cortex-worker: {error}"), file=sys.stderr)
        return EXIT_USAGE
    except Unavailable as error:
        print(escape_in_line(f"cortex-worker: {error}"), file=sys.stderr)
        return EXIT_UNAVAILABLE
    except CortexError as error:
        print(escape_in_line(f"cortex-worker: {error}"), file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:  # while modules are imported; later a worker handles the signal
        return EXIT_INTERRUPTED
    return re_exec.begin() if code == ANEW else code


if __name__ == "__main__":
    sys.exit(main())
