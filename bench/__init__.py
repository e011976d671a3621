"""Measures the hub: speed against a floor, start, memory, and that nothing was lost on the way."""
