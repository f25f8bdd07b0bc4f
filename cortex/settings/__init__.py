"""Settings, the user's consent, and the folders of a project.

`table` lists each setting with type, default, bounds and the right of a project's own file to set
it. `config` reads files, environment and flags; `trust` keeps consent; `home` finds the root of a
project and its folders; `projects` knows projects by name, `dependencies` the installed packages.
`part` finds the indexed project around a folder. `milvus` and `postgresql` hold addresses only and
connect to nothing.
"""
