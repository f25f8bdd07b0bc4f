"""Tools that keep what was learned, and find it again."""
