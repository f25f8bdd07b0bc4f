"""What a bad day and a bad neighbour do to Cortex, drawn from a seed; a module for each part."""
