"""Access to the server: hosts, origins, tokens, visits."""
