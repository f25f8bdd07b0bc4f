"""The routes of `cortex serve`: calls, events, MCP, and their OpenAPI description."""
