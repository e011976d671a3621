"""Runtimes: what carries the tools of a package out. Each module or folder beside traits.py declares one.

The SDK's part says how a manifest names the runtime and what is checked. The hub's part, which carries the
calls out, stands in execution/runners/. docs/runtimes.md shows how to add one.
"""
