"""Rust: syntax, rules and steps."""
