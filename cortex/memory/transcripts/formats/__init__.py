"""The files of sessions by program, and their lines as exchanges."""
