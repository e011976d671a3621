"""The built-in tools, one module per category, written on the SDK like anyone's."""
