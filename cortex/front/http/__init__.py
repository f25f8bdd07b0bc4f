"""What is spoken over HTTP."""
