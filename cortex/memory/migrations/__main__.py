"""`python -m cortex.memory.migrations DATABASE`: bring one database to the newest version. The key
of a sealed one is on the standard input.
"""

from __future__ import annotations

import sys
from pathlib import Path

from alembic import command
from alembic.config import Config

from cortex.memory.driver import Driver

HERE = Path(__file__).parent


def main(path: str, key: bytes = b"") -> None:
    """Raises what Alembic and the database raise; then nothing was changed."""
    config = Config()
    config.set_main_option("script_location", str(HERE).replace("%", "%%"))
    config.attributes["engine"] = Driver(key).engine(Path(path))
    command.upgrade(config, "head")


if __name__ == "__main__":
    main(sys.argv[1], bytes.fromhex(sys.stdin.read().strip()))
