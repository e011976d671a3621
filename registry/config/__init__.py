"""Settings of packages: what a manifest's `config` describes, what people set, and what tools get of it."""
