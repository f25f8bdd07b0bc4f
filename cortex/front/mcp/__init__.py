"""The MCP front: `server` is the protocol, `stdio` its transport over standard input and output.

With `http/routes/mcp_transports` it is the only importer of `mcp`.
"""
