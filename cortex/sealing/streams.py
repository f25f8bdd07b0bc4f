"""Encryption of a file as a stream of pieces, by AES-256-GCM. Pure: knows no keys and no places.

The scheme is that of Tink's streaming AEAD (AES-GCM-HKDF): each file has its own key, derived from
a random salt and from a `purpose`, which identifies the file; the nonce of a piece holds its number
and whether it is the last. A truncated file, one with reordered pieces, or one moved to another
place is refused. https://developers.google.com/tink/streaming-aead/aes_gcm_hkdf_streaming
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from cortex.system.errors import Damaged, Misconfigured

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

#: start of a sealed file: the format and its version
MAGIC = b"cortex-sealed-1\n"
#: bytes of a key, of a salt, of the nonce part that all pieces of a file share, and of a tag
KEY_BYTES, SALT_BYTES, PREFIX_BYTES, TAG_BYTES = 32, 32, 7, 16
#: bytes of a piece, which is in memory as a whole
PIECE_BYTES = 1 << 20
#: largest number of pieces: it has four bytes in the nonce
PIECES_MAX = 1 << 32
HEAD_BYTES = len(MAGIC) + SALT_BYTES + PREFIX_BYTES


def seal(key: bytes, purpose: bytes, plain: BinaryIO, sealed: BinaryIO) -> int:
    """Encrypt all of `plain` into `sealed`; `unseal` needs the same `purpose`. Returns the number
    of plain bytes.

    Raises OSError, and Misconfigured without the library.
    """
    salt, prefix = os.urandom(SALT_BYTES), os.urandom(PREFIX_BYTES)
    cipher = _cipher(key, salt, purpose)
    sealed.write(MAGIC + salt + prefix)
    count = 0
    for number, piece, last in _pieces(plain, PIECE_BYTES):
        sealed.write(cipher.encrypt(_nonce(prefix, number, last=last), piece, None))
        count += len(piece)
    return count


def unseal(key: bytes, purpose: bytes, sealed: BinaryIO, plain: BinaryIO) -> int:
    """Decrypt `sealed` into `plain`; the output must not be used before this returns.

    Returns the number of plain bytes. Raises Damaged for bytes that were not sealed so, OSError.
    """
    head = sealed.read(HEAD_BYTES)
    if len(head) != HEAD_BYTES or not head.startswith(MAGIC):
        raise Damaged("It is not a sealed file of this format.")
    salt, prefix = head[len(MAGIC) : -PREFIX_BYTES], head[-PREFIX_BYTES:]
    cipher = _cipher(key, salt, purpose)
    count = 0
    for number, piece, last in _pieces(sealed, PIECE_BYTES + TAG_BYTES):
        plain.write(written := _decrypt(cipher, _nonce(prefix, number, last=last), piece))
        count += len(written)
    return count


def seal_short(key: bytes, purpose: bytes, raw: bytes) -> bytes:
    """Encrypt a few bytes, as a key, in one piece."""
    salt = os.urandom(SALT_BYTES)
    return salt + _cipher(key, salt, purpose).encrypt(bytes(12), raw, None)


def unseal_short(key: bytes, purpose: bytes, raw: bytes) -> bytes:
    """Decrypt bytes of `seal_short`. Raises Damaged."""
    return _decrypt(_cipher(key, raw[:SALT_BYTES], purpose), bytes(12), raw[SALT_BYTES:])


def _pieces(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes, bool]]:
    """Yield (number, bytes, whether it is the last) of a file's pieces; an empty file has one."""
    piece = file.read(size)
    for number in range(PIECES_MAX):
        following = file.read(size) if len(piece) == size else b""
        yield number, piece, not following
        if not following:
            return
        piece = following
    raise OSError(f"The file has more than {PIECES_MAX} pieces.")


def _nonce(prefix: bytes, number: int, *, last: bool) -> bytes:
    return prefix + number.to_bytes(4) + (b"\1" if last else b"\0")


def _decrypt(cipher: AESGCM, nonce: bytes, raw: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag

    try:
        return cipher.decrypt(nonce, raw, None)
    except InvalidTag as error:
        raise Damaged("Its bytes differ from the sealed ones.") from error


def _cipher(key: bytes, salt: bytes, purpose: bytes) -> AESGCM:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    except ImportError as error:
        from cortex.system.installation import how_to_add

        raise Misconfigured(
            f"security.encrypt_index needs the package cryptography, which is not installed: {how_to_add('private')}."
        ) from error
    return AESGCM(HKDF(SHA256(), KEY_BYTES, salt, purpose).derive(key))
