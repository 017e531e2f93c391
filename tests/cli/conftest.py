"""The served endpoint, for commands that ask it."""

from support.endpoint import serve

__all__ = ["serve"]
