"""Swift: syntax, rules and steps."""
