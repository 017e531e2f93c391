"""The stand-in's rules for TextCraft."""
