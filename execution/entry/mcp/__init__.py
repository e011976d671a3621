"""The hub as an MCP server: Streamable HTTP, stateless, for both of the protocol's eras."""
