"""The refine-and-resume loop, and everything that turns prompts into plans."""
