"""The signs of attacks, a module for each kind of field."""
