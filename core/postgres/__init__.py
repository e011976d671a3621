"""Django's PostgreSQL backend with a pool that notices when the server ended a connection."""
