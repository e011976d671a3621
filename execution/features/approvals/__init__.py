"""Approvals: a call that a person has to allow waits, bound to what was asked, until somebody decides."""
