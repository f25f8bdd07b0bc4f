"""PHP: syntax, rules and steps."""
