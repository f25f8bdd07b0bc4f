"""Sentences about the data that a configuration sends to other machines. Sends nothing itself."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from cortex.settings.config import Config
from cortex.settings.folders.home import is_loopback
from cortex.settings.reference import read_reference
from cortex.system.errors import Misconfigured


def describe_egress(config: Config) -> str:
    """Describe the data that is sent to other machines, and its destinations; "" for none."""
    index = config.store.egress(config) if config.store else ""
    return " ".join(filter(None, (_sources_sentence(config), index, _memory_sentence(config))))


def _sources_sentence(config: Config) -> str:
    endpoint = config.embedding.endpoint
    if config.embedding.provider != "http" or not endpoint or is_loopback(endpoint):
        return ""
    return (
        f"The text of this project's files and of every question about it is sent to {endpoint} "
        "(embedding.endpoint); of secrets in it, those of known formats are masked. With embedding.provider static "
        "nothing leaves this machine."
    )


def _memory_sentence(config: Config) -> str:
    database = config.memory.database
    if not database:
        return ""
    try:
        address = urlsplit(read_reference(database, "memory.database"))
    except (Misconfigured, ValueError):  # opening the database reports it
        return ""
    hosts = [address.hostname or "", *parse_qs(address.query).get("host", [])]
    elsewhere = [host for host in hosts if host and host[0] != "/" and not is_loopback(f"http://{host}")]
    if not elsewhere:
        return ""
    return (
        f"Notes and sessions are stored on {elsewhere[0]} (memory.database); of secrets in them, those of known "
        "formats are removed."
    )
