"""A project's folder kept sealed on the disk: its bytes are plain in memory alone."""
