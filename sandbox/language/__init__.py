"""The plan language: what may be written, how that is checked and compiled, and what guards it as it runs."""
