"""The process between a worker and a tool: starts it, watches it, ends it. Standard library only.

It is started anew for each run, so what it imports is paid for each time: no dataclasses, no typing.
"""
