"""Everything that talks to agents and people; the tools behind it are in `tools/`.

`mcp/` speaks MCP over standard input and output, `cli/` is the program `cortex`, `http/` is
`cortex serve` with the routes and the web page, `agents/` edits the settings of coding agents.
`tool` turns a typed function into a tool; commands and HTTP routes are made from the same table.

The modules beside these folders hold a front's way to its workers (`link`), to memory and to other
projects, translate paths of a folder that the index of a project around it serves, count calls
(`usage`), and offer memory to Python programs (`library`). No process listens on TCP without a
token.
"""
