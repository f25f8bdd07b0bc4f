"""`python -m cortex.memory.migrations [DATABASE]`: bring one database to the newest version. On the
standard input is the key of a sealed one, or, of a team's on a server, address and name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from cortex.memory.store.driver import Driver
from cortex.memory.team.postgresql import Server, open_for_migration

FOLDER = Path(__file__).parent


def main(connect: Callable[[], AbstractContextManager[Connection]]) -> None:
    """Raises what Alembic and the database raise; then nothing was changed."""
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connecting"] = connect
    command.upgrade(config, "head")


if __name__ == "__main__":
    stdin_text = sys.stdin.read().strip()
    if sys.argv[1:]:
        main(Driver(bytes.fromhex(stdin_text)).engine(Path(sys.argv[1])).connect)
    else:
        main(partial(open_for_migration, Server(*stdin_text.split("\n"))))
