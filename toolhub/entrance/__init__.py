"""The HTTP entrance of a web process: it reads a request whole before a work thread takes it (ADR 30)."""
