"""Files, memory, time and processes of this machine.

`files` is the only module that opens, makes, replaces and removes files; it follows no link.
`hosts` and `sockets` hold the differences between Linux, macOS and Windows. `terminal` escapes text
for logs and terminals, `allocator` returns memory to the system, `anew` restarts a grown process in
place, `git` asks git without running code of a repository, `products` multiplies vectors.
"""
