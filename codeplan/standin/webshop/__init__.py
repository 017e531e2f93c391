"""The stand-in's rules for webshop."""
