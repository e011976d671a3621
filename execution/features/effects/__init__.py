"""What follows from a run's outcome: changed memory, events, other runs; in the transaction that ends it."""
