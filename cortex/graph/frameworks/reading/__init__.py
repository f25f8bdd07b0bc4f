"""The readers of one file's fragments: routes, routers, mounts, clients, requests, constants."""
