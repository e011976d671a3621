"""Where a tool with hosts to reach finds its way out: the only address in its network."""

HOST, PORT = "127.0.0.1", 3128
ADDRESS = f"http://{HOST}:{PORT}"
