"""Commands and addresses in a sentence: no rule proposes an order to fetch or run something, and an
agent gets no candidate with any of both. Pure.
"""

from __future__ import annotations

import re

_ADDRESS = (
    r"(?i:\b[a-z][a-z0-9+.-]{1,9}://\S|\bwww\.\S|\b[\w.+-]+@[\w-]+\.\w|\b\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|sh|ai|app|co|me|info|biz|xyz|example|test|ru|cn|de|fr|uk|eu)\b)"
)
_ORDER = (
    r"(?i:\b(?:run|runs|execute|install|download|fetch|open|load|visit|source|import|call|post|send|upload|trust|use|"
    r"führe?|starte?|lade?|installier\w*|vertraue?|öffne|exécute[rz]?|lance[rz]?|installe[rz]?|télécharge[rz]?|envoie[rz]?)\b)"
)
#: programs that fetch, change rights, or run what they are given
_DANGEROUS = (
    r"(?i:\b(?:curl|wget|sudo|eval|chmod|chown|powershell|iex|invoke-webrequest|base64|netcat|scp|ssh|nc|npx|pipx"
    r"|bash|zsh|sh|cmd\.exe)\s+\S|\brm\s+-|\|\s*(?:sh|bash|python\d?|node)\b|\$\(|&&|\bgit\s+config\b)"
)
#: marks of a command or of a place in a shell
_COMMAND = (
    r"(?i:`|\$\w|\s--?[a-z][\w-]*|(?:^|\s)\.{0,2}/\S|\b\w+/\w+\.(?:sh|py|js|ps1|bat)\b|\bscripts/|[|;&]\s*\w)"
)
_HOSTILE = re.compile(rf"{_DANGEROUS}|{_ORDER}.*?{_ADDRESS}|{_ADDRESS}.*?{_ORDER}")
_WITHHELD = re.compile(rf"{_DANGEROUS}|{_ADDRESS}|{_COMMAND}")


def orders_a_command(text: str) -> bool:
    """Whether the sentence orders to fetch or run something from elsewhere."""
    return bool(_HOSTILE.search(text))


def holds_command_or_address(text: str) -> bool:
    """Whether the text has anything that reads as a command, a path or an address."""
    return bool(_WITHHELD.search(text))
