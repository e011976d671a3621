"""Strict JSON in, canonical JSON out."""
