"""Schemas that depend on the context: made by the tool's hook in its sandbox, kept for minutes."""
