"""Retrying a failed attempt: named policies, how long to wait, and whether to try again at all."""
