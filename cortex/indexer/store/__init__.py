"""What the indexer keeps on disk: chunk files, manifest, embeddings, graph files."""
