"""The served endpoint, for tests of what asks it."""

from support.endpoint import no_settings_of_this_machine, serve
from support.trusted import config_folder

__all__ = ["config_folder", "no_settings_of_this_machine", "serve"]
