"""Starts the hub's processes on one machine and keeps them going until it is told to stop."""
