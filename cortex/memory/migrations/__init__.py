"""The versions of the store: one Alembic file for each step."""
