"""The stand-in's rules for WebShop."""
