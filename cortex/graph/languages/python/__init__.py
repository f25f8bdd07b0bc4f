"""Python: syntax, rules and steps."""
