"""Commands that set up, check and remove Cortex."""
