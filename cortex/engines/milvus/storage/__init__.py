"""The collections in Milvus: rows and documents, their download and removal, and the lease of a
writer.
"""
