"""Keyed hashes of everything that was forgotten for good: no import, transcript, hook or history of
git brings it back.
"""

import hashlib
import hmac
from collections.abc import Collection

from sqlalchemy import Connection, insert, select

from cortex.memory.note import Note
from cortex.memory.store.tables import FORGOTTEN

#: hashes in one statement
MANY = 1_000


def forgotten_hashes(key: bytes, note: Note) -> list[str]:
    """The hashes of a note: of its id, and of its text."""
    text = " ".join(f"{note.title}\n{note.body}".casefold().split())
    return [forgotten_id(key, note.id), _digest(key, f"text {text}")]


def forgotten_id(key: bytes, note_id: str) -> str:
    return _digest(key, f"id {note_id}")


def session_hash(key: bytes, workstation: str, source_id: str) -> str:
    """The hash of a session, which its subagents' sessions share."""
    return _digest(key, f"session {workstation}\0{source_id.partition('/')[0]}")


def exchange_hash(key: bytes, at: int, prompt: str) -> str:
    """The hash of an exchange, the same in every session that repeats it."""
    return _digest(key, f"exchange {at}\0{prompt}")


def _digest(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(errors="replace"), hashlib.sha256).hexdigest()


def has_forgotten(connection: Connection) -> bool:
    return connection.execute(select(FORGOTTEN.c.hash).limit(1)).first() is not None


def stored_hashes(connection: Connection, hashes: Collection[str]) -> set[str]:
    """The hashes of the list that are stored."""
    wanted, stored = list(hashes), set[str]()
    for at in range(0, len(wanted), MANY):
        query = select(FORGOTTEN.c.hash).where(FORGOTTEN.c.hash.in_(wanted[at : at + MANY]))
        stored |= set(connection.execute(query).scalars())
    return stored


def remember(connection: Connection, hashes: Collection[str], now: int) -> None:
    """Store hashes of erased contents."""
    if new := sorted(set(hashes) - stored_hashes(connection, hashes)):
        connection.execute(insert(FORGOTTEN), [{"hash": digest, "created_at": now} for digest in new])
