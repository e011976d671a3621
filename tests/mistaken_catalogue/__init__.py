"""A catalogue whose tools take arguments of every kind, for calls that get them wrong."""
