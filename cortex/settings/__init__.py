"""What was configured, and whose folder this is."""
