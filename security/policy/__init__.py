"""The hub's policy beside grants: restrictions, pauses and what a persona's standing brings."""
