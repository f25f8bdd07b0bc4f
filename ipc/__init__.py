"""How two processes talk: messages, frames, asking, answering, events, locks. Imports no room.

What the messages of search and of the graph mean is known elsewhere; here they only have a shape.
"""
