"""Messages of MCP on their way: lines, HTTP, and a bridge between both."""
