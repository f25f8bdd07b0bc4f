"""What an empty answer says: that nothing is noted, and what to try next."""

from collections.abc import Mapping
from typing import Any

from cortex.memory.library.view import View
from cortex.memory.text import question_words
from cortex.terms import tokens

#: arguments that filter notes
FILTERS = (
    "kind", "type", "obs_type", "tags", "tag", "concepts", "files", "as_of", "since", "until",
    "dateStart", "dateEnd", "min_similarity", "min_confidence",
)  # fmt: skip
#: values of `type` that select no type of note
SEARCHED = ("observations", "sessions", "prompts")
#: words of a query that are named at most
UNKNOWN_MAX = 5
#: key of an answer's rows → the sentence, where no query was asked
_SENTENCES = {
    "candidates": "No sentence of a person waits. What a person says is noted by cortex_store.",
    "patterns": "No patterns yet: upkeep finds them in similar notes of two sessions (run_consolidation).",
    "groups": "No two notes say the same.",
    "relations": "This note has no relations. cortex_relate connects two notes.",
    "edges": "This note has no relations. cortex_relate connects two notes.",
}


def say_next(view: View, rows: str, arguments: Mapping[str, Any]) -> str:
    """A sentence for an answer without rows; `rows`: their key."""
    if sentence := _SENTENCES.get(rows):
        return sentence
    filters = [name for name in FILTERS if (value := arguments.get(name)) and value not in SEARCHED]
    query = str(arguments.get("query") or "")
    if query and not filters:
        unknown = unknown_words(view, query)
        words = f" No note has {', '.join(f'“{word}”' for word in unknown)}." if unknown else ""
        return f"Nothing is noted about this.{words} Try other words, or the code."
    if filters:
        subject = " about this" if query else ""
        return f"Nothing is noted{subject} with {' and '.join(filters)}: ask without."
    return "This project has no notes: store one."


def unknown_words(view: View, query: str) -> list[str]:
    """The words of a query, as they are in it, that no note has, each once."""
    count, stems_of_query = view.memory.words.document_count, set(question_words(query))
    stems = {word: stems_of_query.intersection(question_words(word)) for word in tokens.words(query)}
    unknown = [word for word, parts in stems.items() if parts and not any(map(count, parts))]
    return unknown[:UNKNOWN_MAX]
