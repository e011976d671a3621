"""The calls that are measured: the same body for all."""

ECHO = "/api/v1/tools/echo/execute"
# The same as a tool that is not pure: accept and start are committed before it works.
IMPURE_ECHO = "/api/v1/tools/echo_impure/execute"
# The same in Python code from outside, in a sandbox.
ISOLATED_ECHO = "/api/v1/tools/echo_isolated/execute"
WEB_CALL = "/api/v1/tools/echo_web/execute"
MCP = "/mcp"
FLOOR = "/api/v1/floor"
BARE = "/api/v1/bare"
# About what an agent sends.
BODY = {"arguments": {"text": "The quick brown fox jumps over the lazy dog. " * 5}}
# `bench_prepare` makes so many calls of each.
PREPARED = 4
