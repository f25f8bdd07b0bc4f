"""Where code and memory meet: what a note says of places in the project. Asks both, is neither."""
