"""`python -m cortex.memory.migrations [DATABASE]`: bring one database to the newest version. On the
standard input is the key of a sealed one, or, of a team's on a server, address and name.
"""

import sys
from contextlib import AbstractContextManager
from pathlib import Path

from sqlalchemy import Connection

from cortex.memory.migrations.current_tables import bring_to_current_tables
from cortex.memory.store.driver import Driver
from cortex.memory.team.postgresql import Server, open_for_migration

if __name__ == "__main__":
    stdin_text = sys.stdin.read().strip()
    if sys.argv[1:]:
        connecting: AbstractContextManager[Connection] = (
            Driver(bytes.fromhex(stdin_text)).engine(Path(sys.argv[1])).connect()
        )
    else:
        connecting = open_for_migration(Server(*stdin_text.split("\n")))
    with connecting as connection:
        bring_to_current_tables(connection)
