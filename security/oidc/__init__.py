"""Signing in at the organisation's own OpenID Connect provider. See flow.py, and docs/people.md."""
