"""The engine over Milvus: rows of all projects in one collection, and the files that go with
them.
"""
