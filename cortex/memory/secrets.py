"""Finds keys, tokens and passwords in a text by their formats, and takes them out. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import re2

from cortex.memory.note import clean

#: between a name and its value
_IS = r"['\"]?[ \t]{0,4}(?::=|=>|[=!]={1,2}|[:=])[ \t]{0,4}"
#: kind of secret → what it looks like, as its issuer documents it
_FORMATS = {
    "private key": (
        r"-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-{4,5}(?s:.*?)"
        r"(?:-{4,5} ?END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-{4,5}|\z)"
        r"|\bPuTTY-User-Key-File-[0-9]:(?s:.*?)(?:Private-MAC: *[0-9a-f]+|\z)"
    ),
    "AWS key": (
        r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"
        r"|(?i:aws[^\n]{0,20}(?:key|pwd|pw|password|pass|token)[^\n]{0,20})['\"][0-9A-Za-z/+]{40}['\"]"
    ),
    "GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})",
    "GitLab token": (
        r"\b(?:gl(?:pat|dt|ft|rt|soat|imt|agent|oas|ffct|ptt|cbt(?:-[0-9a-fA-F]{2}_)?)-|GR1348941)[A-Za-z0-9_-]{20,}"
    ),
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
    "Twilio key": r"\b(?:SK|AC)[0-9a-z]{32}\b",
    "Telegram token": r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b",
    "Discord token": r"\b[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    "DigitalOcean token": r"\bdo[opr]_v1_[a-f0-9]{64}\b",
    "Mailchimp key": r"\b[0-9a-f]{32}-us[0-9]{1,2}\b",
    "Square key": r"\bsq0(?:csp|atp|idp)-[0-9A-Za-z_\\-]{22,43}",
    "Artifactory key": r"\bAKC[A-Za-z0-9]{20,}|\bAP[0-9A-F][A-Za-z0-9]{30,}",
    "JSON web token": r"\beyJ[A-Za-z0-9_=-]{8,}\.eyJ[A-Za-z0-9_=-]{8,}(?:\.[A-Za-z0-9_=-]*)?",
    "storage key": r"(?i:AccountKey|SharedAccessKey)=[A-Za-z0-9+/=]{40,}",
    "password in an address": r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@'\"]{1,100}:[^\s/@'\"]{3,100}@",
    "password": (
        r"(?i:\b[A-Za-z0-9_-]*(?:(?:passwd|password|passphrase|api[_-]?key|access[_-]?key|private[_-]?key"
        r"|priv[_-]?key|client[_-]?key|service[_-]?key|account[_-]?key|auth[_-]?key|db[_-]?key|database[_-]?key"
        r"|auth[_-]?token|access[_-]?token|client[_-]?secret)[A-Za-z0-9_-]*|secret(?:s|[_-][A-Za-z0-9_-]*)?"
        r"|(?:db|database|key)[_-]?pass|\bpwd))"
        + _IS
        + r"(?:\"[^\"\s]{8,}\"|'[^'\s]{8,}'|[A-Za-z0-9+/_.~!@#$%^&*-]{8,})"
        r"|(?i:\b[A-Za-z0-9_-]*(?:passwd|password|passphrase|secret))[ \t]{0,4}={1,3}[ \t]{0,4}"
        r"(?:\"[^\"\n]{8,}\"|'[^'\n]{8,}')"
    ),
    "key in an address": r"https?://api\.softlayer\.com/soap/v3(?:\.1)?/[a-z0-9]{64}",
}
_KINDS = tuple(_FORMATS)
_ANY = re2.compile("|".join(f"({pattern})" for pattern in _FORMATS.values()))
#: what stands for a password in examples and code, in place of one
_NO_PASSWORD = re2.compile(
    r"(?i)[:=>]\s*['\"]?(?:\$|<|\{|\[|~?/|\.{1,2}/|os\.|process\.|env|getenv|config|self\.|settings|none|null|true|false"
    r"|str\b|string|x{4,}|\*{3,}|\.{3}|your|example|changeme|redacted|required|optional|missing|invalid|incorrect"
    r"|expired|hashed|encrypted|the\b|[a-z_.]+\()"
)
#: what is called a key, and what makes a secret of it: the lengths of IBM's, or their names. It is
#: looked for last: what is none may hold one of another kind
_NAMING = r"(?i:\b[A-Za-z0-9_-]*(?:key|token|pass|pwd|pw|password))" + _IS + r"['\"]?[A-Za-z0-9_-]{24,}"
_NAMED = re2.compile(_NAMING)
#: whether a text holds any of them
_GATE = re2.compile("|".join(f"(?:{pattern})" for pattern in (*_FORMATS.values(), _NAMING)))
_KEY = re.compile(
    r"(?:.*\W)?(?:(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{44}|[0-9a-f]{48})"
    r"|(?i:cloudant|clou|cl|softlayer|sl)[_-]?(?:api)?(?i:key|pwd|pw|password|pass|token)\W.*?(?:[0-9a-z]{64}|[a-z]{24})"
)


def remove_secrets(text: str) -> tuple[str, list[str]]:
    """(`text` with `[removed: kind]` in the place of each secret, the kinds that were found). What
    no text holds goes first: left out later, it would join the halves of one.
    """
    kinds: list[str] = []

    def removed(kind: str) -> str:
        kinds.append(kind)
        return f"[removed: {kind}]"

    def replaced(match: Any) -> str:
        kind = _KINDS[match.lastindex - 1]
        told: str = match.group()
        if kind == "password" and (no := _NO_PASSWORD.search(told)):
            rest: str = _ANY.sub(replaced, told[no.end() :])
            return told[: no.end()] + rest
        return removed(kind)

    def named(match: Any) -> str:
        told: str = match.group()
        return removed("key") if _KEY.fullmatch(told) else told

    return _NAMED.sub(named, _ANY.sub(replaced, clean(text))), kinds


def remove_secrets_in(value: Any) -> tuple[Any, list[str]]:
    """`remove_secrets` in every text of a JSON value, names of fields included."""
    # most values hold none: one look at all their texts is ten times as fast as one at each
    texts: list[str] = []
    _gather(value, texts)
    return _removed(value) if _GATE.search(clean("\n".join(texts))) else (value, [])


def _gather(value: Any, texts: list[str]) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, Mapping):
        texts += map(str, value)
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
