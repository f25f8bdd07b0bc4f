"""Files that draw all routes of an application: Rails, Laravel, and Spring's functions."""
