"""Notes shared between machines, clones and folders: a team's PostgreSQL server, linked and moved
projects.
"""
