"""The MCP front: `server` is the protocol, `stdio` the way of its bytes.

The only importer of `mcp`.
"""
