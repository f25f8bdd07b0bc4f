"""Standard input and output in place of a file. Only the memory worker reads and writes files, so
the data passes through a private file beside the worker's logs.
"""

import contextlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cortex.front.form import Way
from cortex.settings import config as configuration
from cortex.system import files
from cortex.system.errors import BadRequest, CortexError, Unavailable

#: the file argument that means standard input or output
STREAM = "-"


def is_stream(way: Way, arguments: dict[str, Any]) -> bool:
    return bool(way) and arguments.get("file") == STREAM


@contextlib.contextmanager
def spool_stream(way: Way, arguments: dict[str, Any], data_dir: str | None) -> Iterator[dict[str, Any]]:
    """Yield the arguments with a private file in place of the stream: it holds all of standard
    input, or is copied to standard output at the end of the `with`.

    Raises BadRequest when nothing is piped in, Unavailable when the file cannot be written.
    """
    if not is_stream(way, arguments):
        yield arguments
        return
    if way == "in" and sys.stdin.isatty():
        raise BadRequest("Pipe in the notes to import, as in `cortex memory import - <notes.jsonl`.")
    data = configuration.load_data({"memory": {"data_dir": data_dir}} if data_dir else None)
    data.make()
    files.sweep(data.run_dir)  # left by a killed command
    path: Path | None = None
    try:
        path = files.write_new(data.run_dir, "stream", b"")
        if way == "in":
            with files.replacing(path) as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        yield arguments | {"file": str(path)}
        if way == "out":
            with files.open_ours(path) as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except CortexError as error:
        raise type(error)(str(error).replace(str(path), f"Standard {way}put")) from error
    except OSError as error:
        raise Unavailable(f"Cannot write to {data.run_dir}: {error.strerror or error}.") from error
    finally:
        if path is not None:
            with contextlib.suppress(OSError):
                files.remove(path)
