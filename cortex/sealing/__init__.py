"""Encryption of a project's folder on the disk ("sealed"); its plain bytes are in memory alone.

`streams` seals a single file, `mirror` a folder with the list of its files, `master_key` and `keys`
manage keys, `plain_folder` counts the users of the plain folder: the first opens it, the last seals
and removes it. `recovery` adds a paper key, `boxes` seals short texts without a secret key. The
meaning of the files is unknown here.
"""
