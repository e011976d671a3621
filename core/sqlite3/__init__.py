"""Django's SQLite backend with a fair order of the writers of a process."""
