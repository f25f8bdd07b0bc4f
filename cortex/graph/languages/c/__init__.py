"""C and C++: syntax, rules and steps."""
