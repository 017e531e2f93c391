"""The stand-in's rules for MiniWoB++."""
