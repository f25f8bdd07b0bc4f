"""Scala: syntax, rules and steps."""
