"""Rules that read sessions without a model: notes of commits and of changed files, and candidates
of sentences that a person wants remembered. Nothing from a tool's output becomes either.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Row, select

from cortex.memory.note import FILES_MAX, TITLE_CHARS_MAX, Note, Source, commit_id, normalise_note
from cortex.memory.store.forgotten import forgotten_hashes, stored_hashes
from cortex.memory.store.records import Records
from cortex.memory.store.tables import SESSION
from cortex.memory.text import cut
from cortex.memory.transcripts.intake import Commit, IncomingPortion
from cortex.memory.transcripts.proposing.changed_files import note_changes
from cortex.memory.transcripts.proposing.pasted_messages import QUOTED, is_pasted
from cortex.memory.transcripts.proposing.proposals import CHANNEL, Proposal, propose

#: longest and shortest sentence in characters; longer ones are pasted text
CHARS_MAX, CHARS_MIN = 400, 8
#: words of a fact and a decision
WORDS_MIN = 3
#: sentences of one message; where more match, they are a list that was pasted
SENTENCES_MAX = 3

_POLITE = (
    r"(?:please,? |bitte,? |s'il te plaît,? |and |also |und |auch |et |aussi |so |also,? |hey,? |btw,? )*"
)
_AGREED = r"(?:(?:ok(?:ay)?|alright|all right|fine|good|great|right|yes|yeah|yep|perfect|so|then|gut|ja|passt|also|alles klar|einverstanden|bon|d'accord|oui|alors|parfait)[,.!:]? (?:then,? |dann,? |alors,? )?)"
#: words after which "always" and "never" describe, and do not ask
_NO_VERB = (
    r"(?!(?:mind|seen|been|had|happened|got|gotten|knew|known|saw|again|ever|before|more|less|the|an?|this|that|these|those|it|my|"
    r"your|our|so|too|in|on|at|for|with|is|are|was|were|not|noch|wieder|der|die|das|ein|eine|dieselben?|dasselbe|denselben|"
    r"gesehen|mehr|so|nur|wenn|la|le|les|un|une|pas|vu|plus|aussi|en)\b|\w+(?:ed|ing)\b|\w*[^su\W]s\b)"
)
#: the imperatives with which German and French rules begin
_GERMAN_VERB = (
    r"(?:schreibe?|benutze?|verwende|nutze?|nimm|mache?|lasse?|frage?|führe?|starte|teste|committe?|pushe?|lösche?|ändere|formatiere|"
    r"halte?|achte|gib|lege?|lies|prüfe?|antworte|baue?|nenne|speichere?|logge?|importiere|setze?|arbeite|stelle?|packe?|füge?|rufe?|"
    r"vermeide|merge?|installiere|dokumentiere|sprich|rede)"
)
_FRENCH_VERB = r"(?:[a-zéèêîôûç]+(?:e|es|s|ez|is|ds|ts))"

#: kind → beginnings of a sentence that states a note; the whole sentence is the note
_STATES: dict[str, tuple[str, ...]] = {
    "decision": (
        rf"{_AGREED}?(?:we|i)(?:'ve| have)? (?:now |just |finally )?(?:decided|agreed|settled|chose|chosen|picked)\b",
        rf"{_AGREED}(?:let's|lets|let us|we'll|we will) (?:now )?(?:go (?:with|for)|use|take|switch to)\b",
        rf"{_AGREED}(?:let's|lets|let us|we'll|we will) (?:now )?(?:stick (?:with|to)|stay (?:with|on)|keep|move to)\b",
        r"let's (?:go with|stick (?:with|to)|settle on|switch to)\b",
        rf"{_AGREED}?wir haben(?: uns)?\b.{{0,160}}\b(?:entschieden|beschlossen|geeinigt|festgelegt)\b",
        rf"{_AGREED}?wir (?:entscheiden uns|nehmen jetzt|nehmen also|bleiben bei|wechseln (?:zu|auf)|setzen (?:jetzt )?auf)\b",
        rf"(?:{_AGREED}|dann )(?:dann )?(?:nehmen|bleiben|wechseln|verwenden|benutzen|behalten) wir\b",
        rf"{_AGREED}?(?:on|nous) (?:a|avons|est|sommes)(?: tous)? (?:décidé|convenu|choisi|opté|tombés d'accord)\b",
        rf"{_AGREED}(?:on|nous) (?:prend|prenons|part sur|partons sur|reste (?:sur|à)|garde|gardons)\b",
        rf"{_AGREED}(?:on|nous) (?:passe (?:à|sur)|utilise|utilisons)\b",
        rf"(?:{_AGREED})?(?:partons sur|restons sur|passons (?:à|sur))\b",
    ),
    "preference": (
        r"(?:from now on|going forward|from here on|in (?:the )?future,)[,:]? \w",
        rf"(?:you (?:must|should) )?(?:always|never) {_NO_VERB}\w",
        r"(?:don't|do not|dont) ever \w",
        r"i(?:'d| would)? (?:prefer|rather have|like it if|like you to)\b(?! to (?:go|wait|stop|leave|do it|not )\b)",
        r"i (?:always )?want you to (?:always|never|ask)\b",
        r"(?:remember|don't forget) to (?=.*\b(?:always|whenever|every time|(?:before|after) (?:each|every|any))\b)\w",
        r"(?:ab (?:jetzt|sofort)|von (?:jetzt|nun) an|künftig|zukünftig|in zukunft)\b[,:]? \w",
        rf"(?:immer|nie|niemals) {_NO_VERB}\w",
        rf"{_GERMAN_VERB}\b(?: \S+){{0,5}}? (?:immer|nie|niemals)\b(?! (?:noch|wieder)\b)",
        r"ich (?:möchte|will|hätte gern),? dass du (?=.*\b(?:immer|nie|niemals|vorher|zuerst|künftig)\b)",
        r"(?:ich bevorzuge|mir (?:ist|wäre) (?:es )?lieber|ich mag (?:es )?lieber)\b",
        r"(?:à partir de maintenant|dorénavant|désormais|à l'avenir)[,:]? \w",
        r"(?:ne |n')\S+ (?:\S+ )?jamais\b",
        rf"(?:toujours|jamais) (?:de |d')?{_NO_VERB}\w",
        rf"{_FRENCH_VERB} toujours\b(?! (?:la|le|les|un|une|pas|en)\b)",
        r"je (?:préfère|préférerais)\b",
        r"je veux que tu (?=.*\b(?:toujours|jamais|avant)\b)",
    ),
}
#: beginnings that ask to remember the rest, which is the note
_REMEMBER = (
    rf"{_POLITE}(?:remember|note|keep in mind|bear in mind|don't forget)(?: that|[:,])? +(?!when\b|how\b|what\b|who\b|if\b|to\b|the time\b)"
    rf"|{_POLITE}(?:merke? dir|denke? daran|beachte|behalte im kopf|vergiss nicht|notiere?(?: dir)?)(?: bitte)?(?:,? dass|[:,])? +(?!wie\b|was\b|wann\b|zu\b)"
    rf"|{_POLITE}(?:souviens-toi|rappelle-toi|retiens|note|n'oublie pas|garde en tête)(?: bien)?(?: que| qu'|[:,])? *(?!de\b|d'|quand\b|comment\b|ce\b)"
)
#: beginnings of a correction; the rest is the note
_CORRECTS = (
    r"(?:no|nope|wait|actually|hm+|sorry)?[,.!]? ?(?:no,? )?(?:that's|that is|this is|it's|that was) (?:wrong|not (?:right|true|correct)|incorrect) ?[:;,.!–-]+ *"
    r"|(?:nein|nee|falsch|stopp)?[,.!]? ?(?:nein,? )?(?:das|dies) (?:ist|war|stimmt)(?: so)? (?:falsch|nicht(?: richtig)?) ?[:;,.!–-]+ *"
    r"|(?:non)?[,.!]? ?(?:c'est|c'était|ce n'est pas) (?:faux|inexact|vrai|exact) ?[:;,.!–-]+ *"
)
#: sentences that ask to remember the one before
_REMEMBER_BEFORE = re.compile(
    rf"(?i)^{_POLITE}(?:remember (?:that|this|it)|keep (?:that|this) in mind|note that down|(?:don't forget|note) (?:that|this)"
    r"|merke? dir das(?: bitte)?|denke? daran|vergiss das nicht|notiere? dir das|(?:retiens|note|souviens-toi de)(?:-le|-la| ça| cela)|n'oublie pas(?: ça)?)[.! ]*$"
)
_STATED = tuple(
    (kind, re.compile(rf"(?i)^{_POLITE if kind == 'preference' else ''}(?:{'|'.join(starts)})"))
    for kind, starts in _STATES.items()
)
_REST = re.compile(f"(?i)^(?:{_REMEMBER})")
_CORRECTION = re.compile(f"(?i)^(?:{_CORRECTS})")
#: signs of a passing remark: about one occasion, about nothing, or about the speaker's day
_PASSING = re.compile(
    r"""(?xi)\b(?:
        this\ time | for\ now | right\ now | just\ now | today | tonight | tomorrow | yesterday | this\ (?:morning|afternoon|evening|week(?:end)?)
      | just\ (?:this\ )?once | this\ once | for\ (?:this|the)\ (?:one|pr|task|commit|test|demo) | later | in\ a\ (?:minute|moment|bit) | nothing | not?\ yet
      | lunch | coffee | break | holiday | vacation | home | sleep | bed | away
      | diesmal | heute | morgen | gestern | vorerst | erst\ ?mal | gerade\ eben | später | nichts | noch\ nicht | mittag\w* | kaffee | pause | urlaub | feierabend
      | cette\ fois | pour\ l'instant | aujourd'hui | demain | hier\ soir | ce\ soir | tout\ de\ suite | plus\ tard | rien | pas\ encore | déjeuner | café | vacances
    )\b"""
)
#: a note that begins so says nothing without the message around it
_POINTS = re.compile(
    r"""(?xi)^(?:it|they|he|she|es|er|sie|ça|cela|c'est|il|elle
      | (?:that|this|these|those)(?:'s|\ (?:is|was|are|were|has|had|will|can|does|should|needs?|must|works?))
      | (?:das|dies)\ (?:ist|war|hat|wird|kann|muss|soll|geht|stimmt|passt|gilt)
      | ce\ (?:sont|n'est|qui|que))\b"""
)
#: ends of sentences. An abbreviation or a version has no space after its point
_SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+")


def remembered_sentences(text: str) -> Iterator[tuple[str, str]]:
    """(kind, sentence) of each sentence that a person wants remembered; none of a message that is
    mostly pasted.
    """
    if is_pasted(text):
        return
    collected = list(_matching(_SENTENCES.split(_own_lines(QUOTED.sub("\n", text)))))
    if len(collected) <= SENTENCES_MAX:
        yield from collected


def _own_lines(text: str) -> str:
    """The text before a line that announces something: what follows it was pasted."""
    lines = text.splitlines()
    for at, line in enumerate(lines[:-1]):
        announced = line.rstrip().endswith(":") and any(rest.strip() for rest in lines[at + 1 :])
        if announced and not (_REST.match(f"{line.strip()} x") or _stated_kind(f"{line.strip()} x")):
            return "\n".join(lines[:at])
    return text


def _matching(sentences: list[str]) -> Iterator[tuple[str, str]]:
    before = ""
    for raw in sentences:
        sentence = raw.strip().lstrip("-*•– ").strip()
        if _REMEMBER_BEFORE.match(sentence):
            if _is_note(before):
                yield "fact", before
        elif note := _read(sentence):
            yield note
        before = sentence


def _read(sentence: str) -> tuple[str, str] | None:
    """(kind, note) of one sentence."""
    if not CHARS_MIN <= len(sentence) <= CHARS_MAX:
        return None
    correction = _CORRECTION.match(sentence)
    if correction or (rest := _REST.match(sentence)):
        note = sentence[(correction or rest).end() :].strip()  # type: ignore[union-attr]
        inner = _stated_kind(note)
        return (inner or "fact", note) if _is_note(note) else None
    kind = _stated_kind(sentence)
    return (kind, sentence) if kind and _is_note(sentence) else None


def _stated_kind(sentence: str) -> str:
    return next((kind for kind, starts in _STATED if starts.match(sentence)), "")


def _is_note(sentence: str) -> bool:
    return (
        CHARS_MIN <= len(sentence) <= CHARS_MAX
        and not sentence.rstrip(")\"'").endswith("?")
        and len(sentence.split()) >= WORDS_MIN
        and not _PASSING.search(sentence)
        and not _POINTS.match(sentence)
    )


#: characters of a commit message below its first line
BODY_CHARS_MAX = 4_000
#: notes of one exchange
NOTES_MAX = 5


def store_notes(records: Records, taking: IncomingPortion, rows: Sequence[Row[Any]], key: bytes) -> int:
    """Store the notes and candidates of a portion in its transaction; return the number of new
    notes. One that exists, existed, or was forgotten for good is not made again.
    """
    if not rows:
        return 0
    session_query = select(SESSION.c.id).where(SESSION.c.number == rows[0].session)
    session = str(records.connection.execute(session_query).scalar_one())
    begun = {(piece.at, piece.user) for piece in taking.parts if piece.begins}
    for row in rows:
        if (row.at, row.user_text) in begun:
            propose(records, key, _proposals(taking, row, _origin(session, row)))
    new_count = 0
    for commit in taking.commits:
        naming_rows = (row for row in rows if any(map(commit.name.startswith, row.files.get("commits", ()))))
        new_count += _take_commit(records, taking, commit, _origin(session, next(naming_rows, rows[-1])), key)
    changed = next((row for row in rows if row.files.get("modified")), rows[0])
    return new_count + note_changes(records, taking, rows, _origin(session, changed), key)


def _origin(session: str, row: Row[Any]) -> dict[str, Any]:
    """The origin of a note: the session's id, the exchange's number, the branch."""
    origin = {"session": session, "exchange": row.place}
    return origin | ({"git_branch": row.branch} if row.branch else {})


def _take_commit(
    records: Records, taking: IncomingPortion, commit: Commit, place: dict[str, Any], key: bytes
) -> bool:
    """Store a commit's note, or add the session to git's; return whether it is new."""
    note = normalise_note(replace(_commit_note(taking, commit), metadata={"commit": commit.name} | place))
    note = replace(note, prompt_number=place["exchange"])
    if number := records.find(note.id):
        existing = records.get([number])[0]
        if "session" not in existing.metadata and existing.state == "active":
            updated = replace(existing, metadata={**existing.metadata, **note.metadata})
            records.change(existing, replace(updated, prompt_number=note.prompt_number))
        return False
    if stored_hashes(records.connection, forgotten_hashes(key, note)):
        return False
    records.insert(note)
    return True


def _commit_note(taking: IncomingPortion, commit: Commit) -> Note:
    return Note(
        id=commit_id(taking.session.project, commit.name),
        git_commit=commit.name,
        title=cut(commit.title, TITLE_CHARS_MAX),
        body=commit.body[:BODY_CHARS_MAX],
        kind="event",
        obs_type="change",
        labels=("commit",),
        files=commit.files[:FILES_MAX],
        modified=commit.files[:FILES_MAX],
        project=taking.session.project,
        occurred_at=commit.at,
        # anybody may have written a commit message
        source=replace(_source(taking), trust="tool"),
    )


def _proposals(taking: IncomingPortion, row: Row[Any], origin: dict[str, Any]) -> Iterator[Proposal]:
    for kind, sentence in remembered_sentences(row.user_text):
        yield Proposal(
            kind,
            sentence[0].upper() + sentence[1:],
            taking.session.project,
            taking.session.kind,
            taking.session.source_id[:128],
            row.number,
            origin,
            row.at,
        )


def _source(taking: IncomingPortion) -> Source:
    return Source(taking.session.kind, taking.session.source_id[:128], CHANNEL, "user")
