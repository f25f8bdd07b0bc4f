"""The routes of `cortex serve`: calls, events, MCP, and what describes them."""
