"""The protocol's constants, for use without the official types; a test compares them with those."""

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
# The revision of a client that names none, by the revisions that have the header.
UNNAMED_VERSION = "2025-03-26"

# Codes of errors, and the HTTP status of those that have one; 200 for others.
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
ERROR_STATUS = {
    -32700: 400,
    -32600: 400,
    -32601: 404,
    INVALID_PARAMS: 400,
    -32020: 400,
    -32021: 400,
    -32022: 400,
}

# Headers, as WSGI names them.
VERSION_HEADER = "HTTP_MCP_PROTOCOL_VERSION"
METHOD_HEADER = "HTTP_MCP_METHOD"
NAME_HEADER = "HTTP_MCP_NAME"
# A header with this beginning holds its value encoded.
ENCODED = "=?base64?"
# The member of an input schema that names the header in which clients repeat an argument.
MIRROR_KEY = "x-mcp-header"

# Members of a request's `_meta` in the revisions without a handshake.
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
INFO_KEY = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
LOG_LEVELS = frozenset({"alert", "critical", "debug", "emergency", "error", "info", "notice", "warning"})
