"""Faults planted in a running hub under load, and the count of what became of each call. Never installed."""
