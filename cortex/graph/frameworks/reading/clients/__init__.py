"""Requests of clients and tests, in HTTP and by procedures."""
