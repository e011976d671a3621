"""Which people reach which objects: teams that own them, and rights that are given on one of them."""
