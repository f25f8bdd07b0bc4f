"""The page: what a person sees of a server, made here and sent as it is; no build step."""
