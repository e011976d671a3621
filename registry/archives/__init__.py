"""A package's files as a value, and the zip form in which they come and are kept."""
