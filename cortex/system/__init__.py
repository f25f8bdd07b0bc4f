"""Files, memory, time and processes of this machine.

`files` is the only module that opens, creates, replaces and removes files; it follows no link.
`hosts` and `sockets` hold the differences between Linux, macOS and Windows. `terminal` escapes text
for logs and terminals, `allocator` returns memory to the system, `re_exec` restarts a grown process
in place, `git` runs git without running code of a repository, `dot_products` multiplies vectors.
"""
