"""Texts about sealed projects behind keys: a browser keeps addresses for months."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections import OrderedDict

from cortex.system.errors import NotFound

#: maximum of texts; the oldest is dropped first
TEXTS_MAX = 4096
_KEY = re.compile(r"~[0-9a-f]{32}")


class HiddenTexts:
    """Key → text, in memory, until the server ends. Use it in one event loop."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._texts: OrderedDict[str, str] = OrderedDict()

    def key(self, text: str) -> str:
        """Return the key of a text, the same for equal texts."""
        key = "~" + hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()[:32]
        self._texts[key] = text
        self._texts.move_to_end(key)
        if len(self._texts) > TEXTS_MAX:
            self._texts.popitem(last=False)
        return key

    def text(self, value: str) -> str:
        """Return the text behind a key, and any other value itself. Raises NotFound."""
        if not _KEY.fullmatch(value):
            return value
        if value not in self._texts:
            raise NotFound(
                "The text of this address is gone: the project is sealed, and the server forgot it."
            )
        return self._texts[value]
