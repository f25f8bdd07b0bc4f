"""Finds keys, tokens and passwords in a text by their formats, and takes them out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import re2

from cortex.memory.note import clean

#: kind of secret → what it looks like, as its issuer documents it
_FORMATS = {
    "private key": r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
    "AWS key": r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    "GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})",
    "GitLab token": r"\bgl(?:pat|dt|rt|soat|cbt|ptt)-[A-Za-z0-9_-]{20,}",
    "Slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "Slack webhook": r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}",
    "Anthropic key": r"\bsk-ant-[A-Za-z0-9_-]{20,}",
    "OpenAI key": r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
    "Stripe key": r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    "Google key": r"\bAIza[A-Za-z0-9_-]{35}",
    "Google token": r"\bya29\.[A-Za-z0-9_-]{20,}",
    "npm token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "PyPI token": r"\bpypi-AgE[A-Za-z0-9_-]{50,}",
    "Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "SendGrid key": r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}",
    "Twilio key": r"\bSK[0-9a-f]{32}\b",
    "Telegram token": r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b",
    "DigitalOcean token": r"\bdo[opr]_v1_[a-f0-9]{64}\b",
    "JSON web token": r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    "storage key": r"(?i:AccountKey|SharedAccessKey)=[A-Za-z0-9+/=]{40,}",
    "password in an address": r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@'\"]{1,100}:[^\s/@'\"]{3,100}@",
    "password": (
        r"(?i:\b[A-Za-z0-9_-]{0,40}(?:passwd|password|passphrase|secret|api[_-]?key|access[_-]?key|auth[_-]?token"
        r"|access[_-]?token|client[_-]?secret)[A-Za-z0-9_-]{0,20})['\"]?[ \t]{0,4}(?::=|=>|[:=])[ \t]{0,4}"
        r"(?:\"[^\"\s]{8,200}\"|'[^'\s]{8,200}'|[A-Za-z0-9+/_.~!@#$%^&*-]{8,200})"
    ),
}
_KINDS = tuple(_FORMATS)
_ANY = re2.compile("|".join(f"({pattern})" for pattern in _FORMATS.values()))
#: what stands for a password in examples and code, in place of one
_NO_PASSWORD = re2.compile(
    r"(?i)[:=>]\s*['\"]?(?:\$|<|\{|\[|os\.|process\.|env|getenv|config|self\.|settings|none|null|true|false|str\b"
    r"|string|x{4,}|\*{3,}|\.{3}|your|example|changeme|redacted|[a-z_.]+\()"
)


def remove_secrets(text: str) -> tuple[str, list[str]]:
    """(`text` with `[removed: kind]` in the place of each secret, the kinds that were found). What
    no text holds goes first: left out later, it would join the halves of one.
    """
    kinds: list[str] = []

    def replaced(match: Any) -> str:
        kind = _KINDS[match.lastindex - 1]
        told: str = match.group()
        if kind == "password" and _NO_PASSWORD.search(told):
            return told
        kinds.append(kind)
        return f"[removed: {kind}]"

    return _ANY.sub(replaced, clean(text)), kinds


def remove_secrets_in(value: Any) -> tuple[Any, list[str]]:
    """`remove_secrets` in every text of a JSON value, names of fields included."""
    # most values hold none: one look at all their texts is ten times as fast as one at each
    texts: list[str] = []
    _gather(value, texts)
    return _removed(value) if _ANY.search("\n".join(texts)) else (value, [])


def _gather(value: Any, texts: list[str]) -> None:
    if isinstance(value, str):
        texts.append(clean(value))
    elif isinstance(value, Mapping):
        texts += (clean(str(name)) for name in value)
        for one in value.values():
            _gather(one, texts)
    elif isinstance(value, list | tuple):
        for one in value:
            _gather(one, texts)


def _removed(value: Any) -> tuple[Any, list[str]]:
    if isinstance(value, str):
        return remove_secrets(value)
    if isinstance(value, Mapping):
        named = [(remove_secrets(str(name)), _removed(one)) for name, one in value.items()]
        told = {name: one for (name, _), (one, _) in named}
        return told, [kind for (_, first), (_, second) in named for kind in (*first, *second)]
    if isinstance(value, list | tuple):
        parts = [_removed(one) for one in value]
        return type(value)(one for one, _ in parts), [kind for _, found in parts for kind in found]
    return value, []
