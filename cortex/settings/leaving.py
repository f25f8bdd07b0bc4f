"""What leaves the machine with a configuration, in a sentence. Sends nothing itself."""

from __future__ import annotations

from cortex.settings.config import Config
from cortex.settings.home import is_loopback


def say_leaving(config: Config) -> str:
    """What is sent to another machine, and where; "" where nothing is."""
    endpoint = config.embedding.endpoint
    if config.embedding.provider != "http" or not endpoint or is_loopback(endpoint):
        return ""
    return (
        f"The text of this project's files and of every question about it is sent to {endpoint} "
        "(embedding.endpoint); of secrets in it, those of known formats are masked. With embedding.provider static "
        "nothing leaves this machine."
    )
