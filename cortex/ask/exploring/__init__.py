"""The functions that a question is about, and the calls between them."""
