"""The stand-in's rules for hotpotqa."""
