"""Values of names and chains."""
