"""The comments around a plan's parameters. Each parameter is ``name = value`` in JSON, under its own comment."""

from __future__ import annotations

PARAMETERS_OPENING = "# Parameters, with their values for the task:"
PARAMETERS_CLOSING = "# End of the parameters."
