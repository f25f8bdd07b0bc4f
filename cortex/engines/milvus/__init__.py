"""The engine over Milvus: rows of all projects in one collection, and what travels beside them."""
