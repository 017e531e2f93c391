"""Fixtures: the stand-in served on loopback."""

from support.endpoint import no_settings_of_this_machine, serve

__all__ = ["no_settings_of_this_machine", "serve"]
