"""People who sign in: their roles, how they come, and what becomes of what was theirs when they leave."""
