"""The process between a worker and a tool: starts it, watches it, ends it. Standard library only.

Each run has one of its own, forked from a process that has all of this imported already (nursery.py).
"""
