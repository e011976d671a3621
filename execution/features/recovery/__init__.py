"""What is done when the last attempt of a run has failed: another tool is called, or a person is asked."""
