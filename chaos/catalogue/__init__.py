"""The catalogue of a hub under faults."""
