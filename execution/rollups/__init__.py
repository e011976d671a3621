"""What was called, counted by half-hours: no page counts a million runs. See docs/adr/0021-rollups.md."""
