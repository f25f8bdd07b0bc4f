"""The user's consent to files that a project brings."""
