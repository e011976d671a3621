"""Limits: a call is counted when it is accepted, and what it took is booked when an attempt ends."""
