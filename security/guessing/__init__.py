"""Limits against guessing: counted in the database, for all web processes, and evicted by nobody."""
