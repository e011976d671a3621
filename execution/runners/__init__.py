"""What carries tools out: a module or folder for each runtime, and what they share.

traits.py says what a runtime is, registry.py has them by name, perform.py carries a call out.
"""
