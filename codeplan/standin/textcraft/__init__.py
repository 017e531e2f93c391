"""The stand-in's rules for textcraft."""
