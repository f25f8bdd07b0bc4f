"""TypeScript, TSX and JavaScript: syntax, rules and steps."""
