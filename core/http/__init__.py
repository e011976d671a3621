"""The one HTTP client for addresses that come from outside. Start at client.py."""
