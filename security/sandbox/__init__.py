"""What holds code that is not ours: levels, their probes, and one supervisor process for each run."""
