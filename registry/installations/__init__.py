"""How packages come in: the job, its steps, and the doors that people and agents use. Start at worker.py."""
