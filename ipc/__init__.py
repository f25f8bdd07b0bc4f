"""Communication between processes: messages, frames, requests, replies, events, locks.

`messages/` holds every message as a frozen struct, `codec` turns it into one frame and back.
`client` sends requests with deadlines and replicas, `service` runs a table of handlers, `events`
announces, `locks` and `lifeline` tie processes together, `places` finds the socket of a name. The
meaning of messages is unknown here; they only have a shape. docs/PROTOCOL.md.
"""
