"""A catalogue for the tests: tools that fail in every way that a tool can."""
