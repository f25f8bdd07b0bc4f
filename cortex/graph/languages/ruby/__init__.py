"""Ruby: syntax, rules and steps."""
