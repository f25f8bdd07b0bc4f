"""Go: syntax, rules and steps."""
