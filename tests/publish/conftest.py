"""A milvus-lite that is served."""

from tests.lite import milvus

__all__ = ["milvus"]
