"""The parts of scripts/torture.py, one module each, drawn from a seed."""
