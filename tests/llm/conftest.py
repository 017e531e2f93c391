"""Fixtures for tests of clients: the stand-in served on loopback, and a server with given replies."""

from support.endpoint import no_settings_of_this_machine, serve
from support.reply_server import endpoint

__all__ = ["endpoint", "no_settings_of_this_machine", "serve"]
