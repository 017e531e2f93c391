"""The stand-in's rules for the household."""
