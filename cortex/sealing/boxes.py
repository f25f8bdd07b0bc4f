"""Public-key encryption of short texts, for hooks, which have no access to the secret key. The
public half is next to the sealed folder, and opens nothing.

Each box has its own key, agreed on by X25519 with a key pair made for it.
"""

import hashlib
import hmac
import os

from cortex.sealing.streams import seal_short, unseal_short
from cortex.system.errors import Damaged

#: name of the file of the public half, in the sealed folder, and its bytes
PUBLIC, PUBLIC_BYTES = "BOX", 32
#: start of a box: the format and its version
MAGIC = b"cortex-box-1\n"
_PURPOSE = b"cortex-box\0"


def public_half(key: bytes) -> bytes:
    """Return the public half for boxes to the owner of `key`."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    return X25519PrivateKey.from_private_bytes(_secret(key)).public_key().public_bytes_raw()


def seal_box(public: bytes, raw: bytes) -> bytes:
    """Encrypt `raw` for the owner of the secret half alone."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    private_key = X25519PrivateKey.from_private_bytes(os.urandom(32))
    shared = private_key.exchange(X25519PublicKey.from_public_bytes(public))
    public_raw = private_key.public_key().public_bytes_raw()
    return MAGIC + public_raw + seal_short(shared, _PURPOSE + public_raw + public, raw)


def is_box(raw: bytes) -> bool:
    return raw.startswith(MAGIC)


def open_box(key: bytes, raw: bytes) -> bytes:
    """Decrypt a box. Raises Damaged for a box to another key."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    theirs, sealed = raw[len(MAGIC) : len(MAGIC) + PUBLIC_BYTES], raw[len(MAGIC) + PUBLIC_BYTES :]
    try:
        shared = X25519PrivateKey.from_private_bytes(_secret(key)).exchange(
            X25519PublicKey.from_public_bytes(theirs)
        )
    except ValueError as error:
        raise Damaged("It is not a box.") from error
    return unseal_short(shared, _PURPOSE + theirs + public_half(key), sealed)


def _secret(key: bytes) -> bytes:
    return hmac.new(key, _PURPOSE, hashlib.sha256).digest()
