"""Makes episodes readable: the live display, JSON output, and the pages of benches and episodes."""
