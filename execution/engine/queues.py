"""The queues in which runs wait for a worker. A runtime names one of them."""

# Work in the worker's own process, and requests to servers.
DEFAULT = "default"
# Code from outside, which a sandbox holds.
SANDBOX = "sandbox"
QUEUES = (DEFAULT, SANDBOX)
