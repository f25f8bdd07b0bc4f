"""The projects of one question, one or several, with one deadline and one ranking."""
