"""What was forgotten for good, known by keyed hashes alone: no import, transcript, hook or history
of git brings it back.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection

from sqlalchemy import Connection, insert, select

from cortex.memory.note import Note
from cortex.memory.tables import FORGOTTEN

#: names in one statement
MANY = 1_000


def forgotten_hashes(key: bytes, note: Note) -> list[str]:
    """What a note that was forgotten for good is known by: its id, and what it says."""
    text = " ".join(f"{note.title}\n{note.body}".casefold().split())
    return [forgotten_id(key, note.id), _digest(key, f"text {text}")]


def forgotten_id(key: bytes, note_id: str) -> str:
    return _digest(key, f"id {note_id}")


def session_hash(key: bytes, workstation: str, source_id: str) -> str:
    """What a session is known by, with those that its agents began."""
    return _digest(key, f"session {workstation}\0{source_id.partition('/')[0]}")


def exchange_hash(key: bytes, at: int, prompt: str) -> str:
    """What an exchange is known by, in whichever session it is told again."""
    return _digest(key, f"exchange {at}\0{prompt}")


def _digest(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(errors="replace"), hashlib.sha256).hexdigest()


def has_forgotten(connection: Connection) -> bool:
    """Whether anything was forgotten."""
    return connection.execute(select(FORGOTTEN.c.hash).limit(1)).first() is not None


def stored_hashes(connection: Connection, hashes: Collection[str]) -> set[str]:
    """Those of the hashes that are of something forgotten."""
    wanted, stored = list(hashes), set[str]()
    for at in range(0, len(wanted), MANY):
        query = select(FORGOTTEN.c.hash).where(FORGOTTEN.c.hash.in_(wanted[at : at + MANY]))
        stored |= set(connection.execute(query).scalars())
    return stored


def remember(connection: Connection, hashes: Collection[str], now: int) -> None:
    """From now on what these are of is forgotten."""
    new = sorted(set(hashes) - stored_hashes(connection, hashes))
    if new:
        connection.execute(insert(FORGOTTEN), [{"hash": digest, "created_at": now} for digest in new])
