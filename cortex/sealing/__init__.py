"""A project's folder, sealed on the disk; its plain bytes are in memory alone.

`streams` seals one file, `mirror` a folder with the list of its files, `masters` and `keys` manage
keys, `holding` counts the users of the plain folder: the first opens it, the last seals and removes
it. `recovery` adds a paper key, `boxes` seals short texts without a key. The meaning of the files
is not known here.
"""
