"""`cortex serve` and `cortex embed-serve`: MCP, tools, events and the web page over HTTP."""
