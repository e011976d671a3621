"""Collections: named sets of tools, which personas are assigned as a whole."""
