"""Releases of packages: published, activated, compared, deprecated, withdrawn, removed."""
