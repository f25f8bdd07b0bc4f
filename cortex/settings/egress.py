"""Sentences about the data that a configuration sends to other machines. Sends nothing itself."""

from urllib.parse import parse_qs, urlsplit

from cortex.settings.config import Config
from cortex.settings.folders.home import is_loopback
from cortex.settings.reference import read_reference
from cortex.settings.table import MEMORY_EMBEDDING, Embedding
from cortex.system.errors import Misconfigured


def describe_egress(config: Config) -> str:
    """Describe the data that is sent to other machines, and its destinations; "" for none."""
    sentences = (
        _embedding_sentence(config.embedding, "embedding", "this project's files"),
        config.store.egress(config) if config.store else "",
        _memory_sentence(config),
        _embedding_sentence(config.memory_embedding, MEMORY_EMBEDDING, "notes"),
    )
    return " ".join(filter(None, sentences))


def _embedding_sentence(embedding: Embedding, section: str, texts: str) -> str:
    endpoint = embedding.endpoint
    if embedding.provider != "http" or not endpoint or is_loopback(endpoint):
        return ""
    return (
        f"The text of {texts} and of every question about {'them' if texts == 'notes' else 'it'} is sent to {endpoint} "
        f"({section}.endpoint); of secrets in it, those of known formats are masked. With {section}.provider static "
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
