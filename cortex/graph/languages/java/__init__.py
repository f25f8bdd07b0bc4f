"""Java: syntax, rules and steps."""
