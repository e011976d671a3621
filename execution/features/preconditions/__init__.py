"""What has to hold before a run: checked once, before its first attempt, and by `validate`."""
