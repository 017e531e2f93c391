"""The comments between which a plan's parameters stand: each ``name = value`` in JSON, under a comment of its own."""

from __future__ import annotations

PARAMETERS_OPENING = "# Parameters, with their values for the task:"
PARAMETERS_CLOSING = "# End of the parameters."
