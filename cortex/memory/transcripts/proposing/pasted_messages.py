"""Judgement whether a person's message is mostly pasted: a log, an issue, a document, another's
words. Nothing in such a message is proposed as the person's; and no order to fetch or run something
is. Pure.
"""

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


#: lines, apart from quotes and code, from which on a message is pasted
LINES_MAX = 15
#: longest message in characters; longer ones contain text of others
CHARS_MAX = 4_000
#: quotes and code, which are others' words wherever they stand
QUOTED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|^(?:>| {4}|\t).*$", re.DOTALL | re.MULTILINE)

#: a line that a program or a form wrote
_MACHINE = re.compile(
    r"""(?xm)^\s*(?:
        \[?\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d | \[?\d\d:\d\d:\d\d
      | \[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE|FAIL(?:ED)?|PASS(?:ED)?|E|ERR!)\b[\]:\ ]
      | Traceback\b | File\ " | at\ [\w.$<>]+\( | \w+(?:Error|Exception)\b | Caused\ by: | npm\ | \#{1,4}\ \w
      | diff\ --git | @@\ | \+\+\+\ | ---\s*(?:a/|$) | [$%>]\ \w | [{}\[\]<]|\w+=\S+\s*$ | \d+\ (?:passed|failed|errors?)\b
      | (?:From|To|Cc|Subject|Date|Author|Title|Labels|Reporter|Reported\ by|Assignee|Steps\ to\ reproduce|Expected|Actual
          |Environment|Description|Version|Von|An|Betreff|Datum|De|À|Objet)\s*:
    )"""
)
#: a phrase that names another voice
_VOICE = re.compile(
    r"""(?xi)
      \b(?:issue|ticket|bug\ report|readme|docs?|documentation|comments?|e-?mail|mail|slack|chat|message|post|article|blog
        |guide|wiki|page|review(?:er)?|bot|copilot|colleague|boss|customer|somebody|someone|he|she|they|github
        |kolleg(?:e|in)|chef(?:in)?|kund(?:e|in)|jemand|seite|doku|anleitung|collègue|client|quelqu'un|article|page)\b
      .{0,40}?\b(?:says?|said|text|reads?|wrote|writes|states?|asks?|told|claims?|suggests?|sagte?|schreibt|schrieb|meinte?
        |behauptet|steht|dit|écrit|demande|prétend)\b
    | \b(?:says|said|wrote|schrieb|schreibt|a\ écrit)\s*:
    | \b(?:pasted|copied\ from|copy\ of|see\ below|forwarded|kopiert\ aus|weitergeleitet|copié\ de|collé|transféré)\b
    | \b(?:ignore|disregard|forget|vergiss|ignoriere|ignorez?|oublie[rz]?)\b.{0,30}
      \b(?:previous|above|prior|earlier|all|vorherigen|alle|précédentes?|toutes?)\b.{0,30}
      \b(?:instruction|prompt|rule|anweisung|regel|consigne|règle)
    """
)


def is_pasted(text: str) -> bool:
    """Whether the message, apart from quotes and code, is another's text or has some of it."""
    if len(text) > CHARS_MAX:
        return True
    typed = QUOTED.sub("\n", text)
    if sum(bool(line.strip()) for line in typed.splitlines()) > LINES_MAX:
        return True
    return bool(_MACHINE.search(typed) or _VOICE.search(typed) or orders_a_command(typed))
