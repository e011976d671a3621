"""Files that tools leave for their callers: kept by hash, offered with the run, removed with its payload."""
