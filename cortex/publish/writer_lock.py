"""The lock of the only writer of an index. Writes nothing else."""

from cortex.generation.formats import LOCK
from cortex.settings.config import Config
from cortex.settings.folders.home import open_home, refusal
from cortex.system import files
from cortex.system.errors import Occupied
from ipc.locks import Lock, hold


def take_lock(config: Config) -> Lock:
    """Take the lock `writer.lock`: one writer for an index, whatever its runtime folder.

    Raises Occupied when another process has it, and `refusal` of an OSError.
    """
    open_home(config)
    try:
        if config.index_dir.is_file():  # in the place of a folder of the index
            files.remove(config.index_dir)
        files.make_folder(config.index_dir)
        return hold(
            config.index_dir / LOCK,
            lambda _holder: Occupied(
                f"Another watcher writes {config.index_dir}; stop it with `cortex down` (or its own terminal) first."
            ),
        )
    except OSError as error:
        raise refusal(error)(f"Cannot write {config.index_dir}: {error.strerror}.") from error
