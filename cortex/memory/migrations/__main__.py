"""`python -m cortex.memory.migrations DATABASE`: bring one database to the newest version."""

from __future__ import annotations

import sys
from pathlib import Path

from alembic import command
from alembic.config import Config

HERE = Path(__file__).parent


def main(path: str) -> None:
    """Raises what Alembic and the database raise; then nothing was changed."""
    config = Config()
    config.set_main_option("script_location", str(HERE).replace("%", "%%"))
    config.set_main_option("sqlalchemy.url", f"sqlite:///{path}".replace("%", "%%"))
    command.upgrade(config, "head")


if __name__ == "__main__":
    main(sys.argv[1])
