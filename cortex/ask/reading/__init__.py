"""Places to read: their meaning, their lines, their surroundings."""
