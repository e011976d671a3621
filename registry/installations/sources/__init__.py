"""Where packages come from. A new kind of source is a module here and a line in fetch.py."""
