"""Looks for attacks in arguments, by what kind of field each is: path, command, SQL, URL or HTML."""
