"""The checks that a hub makes of a package, for authors to make first. Needs `toolhub_sdk[check]`."""
