"""Callbacks: a run's outcome, posted to the address that its caller named.

accept.py checks the address, owed.py owes the message with the outcome, kind.py makes and signs it.
"""
