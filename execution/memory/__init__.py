"""What agents and tools remember: values by scope and key, private to a persona."""
