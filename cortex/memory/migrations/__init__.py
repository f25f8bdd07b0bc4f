"""The versions of the store: one file for each step, run by Alembic. No queries of the product."""
