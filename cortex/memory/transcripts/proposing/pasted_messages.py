"""Judgement whether a person's message is mostly pasted: a log, an issue, a document, another's
words. Nothing in such a message is proposed as the person's. Pure.
"""

from __future__ import annotations

import re

from cortex.memory.transcripts.proposing.commands import orders_a_command

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
