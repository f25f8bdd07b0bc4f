"""The text of a chunk that is embedded. Pure."""

import re
from collections.abc import Mapping
from typing import Any

#: last parts of a path; their words precede the embedded text
PATH_PARTS = 3
#: characters of a signature that precede the text of a chunk without it
SIGNATURE_CHARS = 200

_WORD = re.compile(r"[^A-Za-z0-9]+")


def embed_text(metadata: Mapping[str, Any], text: str) -> str:
    """Return the text to embed for a chunk: path words, scope and signature in front of its text.

    Depends on the written chunk alone, so that a later run can tell whether an embedding still
    fits.
    """
    path = " ".join(str(metadata.get("file_path") or "").split("/")[-PATH_PARTS:])
    signature = str(metadata.get("signature") or "")[:SIGNATURE_CHARS]
    if signature and signature.split("\n", 1)[0].strip() in text:
        signature = ""
    front = " ".join(
        words for words in (_WORD.sub(" ", path), str(metadata.get("scope") or ""), signature) if words
    )
    return f"{front}\n{text}"
