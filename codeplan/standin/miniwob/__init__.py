"""The stand-in's rules for miniwob."""
