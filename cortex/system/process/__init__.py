"""The running process and its machine: memory, cores, sockets, timers."""
