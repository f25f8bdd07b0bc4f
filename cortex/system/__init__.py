"""Files, memory and time of this machine."""
