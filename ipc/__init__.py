"""How two processes talk. Knows nothing of code or search; imports nobody."""
