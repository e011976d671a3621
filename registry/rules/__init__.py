"""Rules of a tool's calls in CEL: those of its contract, and those that people add in this hub."""
