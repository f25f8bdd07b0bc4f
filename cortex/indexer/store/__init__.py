"""The indexer's files on disk: chunk files, manifest, embeddings, graph files."""
