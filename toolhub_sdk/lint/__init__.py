"""What people should look at in a package, on the standard library alone: traps, and advice to the author."""
