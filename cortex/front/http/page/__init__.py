"""The web page of a server. Its files are sent as they are, without a build step."""
