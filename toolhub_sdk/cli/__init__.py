"""The author's command line: `python -m toolhub_sdk new | manifest | check | test | pack`."""
