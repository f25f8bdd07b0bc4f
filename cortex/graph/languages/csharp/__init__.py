"""C#: syntax, rules and steps."""
