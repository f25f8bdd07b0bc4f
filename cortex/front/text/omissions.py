"""Keys of answers of every tool that have no line in the text, each with the reason."""

#: key of an answer → reason, for every tool
EVERYWHERE = {
    "metadata": "time and source of the answer: for measurements",
    "truncated": "a sentence or the totals say it",
    "query": "the reader's own argument",
}
#: key at any depth of an answer without a form of its own → reason
FIELDS = {
    "uuid": "the number is an id too",
    "created_at_epoch": "the same as created_at",
    "last_retrieved_at_epoch": "of use to programs",
    "sdk_session_id": "of use to programs",
    "is_superseded": "state says it",
    "is_archived": "state says it",
}
