"""The calls that are measured: the same body for product and floor."""

ECHO = "/api/v1/tools/echo/execute"
FLOOR = "/api/v1/floor"
# About what an agent sends.
BODY = {"arguments": {"text": "The quick brown fox jumps over the lazy dog. " * 5}}
# `bench_prepare` makes so many calls of each.
PREPARED = 4
