"""The descriptions of frameworks and of clients."""
