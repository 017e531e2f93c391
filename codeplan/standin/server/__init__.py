"""The stand-in behind an OpenAI-compatible endpoint."""
