"""Publishing a generation to Milvus, and the process that downloads what others published."""
