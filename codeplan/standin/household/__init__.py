"""The stand-in's rules for household."""
