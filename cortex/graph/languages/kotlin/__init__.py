"""Kotlin: syntax, rules and steps."""
