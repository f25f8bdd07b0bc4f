"""Settings, the user's consent, and the folders of a project.

`table` lists each setting with type, default, bounds and the right of a project's own file to set
it. `config` reads files, environment and flags; `trust` stores consent; `home` finds the root of a
project and its folders; `projects` lists projects by name, `dependencies` the installed packages.
`subfolder` finds the indexed project around a folder. `postgresql` holds addresses only
and connect to nothing.
"""
