"""The sandbox: plans that nobody trusts, checked, caged and run.

    from codeplan.sandbox import Sandbox, extract

    sandbox = Sandbox()
    plan = sandbox.check(extract(reply), MyAgent)
    outcome = sandbox.run(plan, MyAgent(act), ask)

A plan is parsed, compiled and run in a worker process of its own, which the operating system keeps from files,
network, other processes and the host's memory; the language that plans are written in is a second wall inside it. It
reaches the agent's public methods, one function that asks a model, and nothing else. Whatever it does ends as a
value: Finished, Failed, Stopped (at a limit) or Rejected.

Names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeplan.lazy import lazy_names

if TYPE_CHECKING:
    from codeplan.sandbox.host.sandbox import Sandbox, probe_layers
    from codeplan.sandbox.language.extraction import extract_plan
    from codeplan.sandbox.limits import Limits
    from codeplan.sandbox.protocol.codec import decode, encode
    from codeplan.sandbox.protocol.decoder import CheckpointError
    from codeplan.sandbox.protocol.layers import Layer
    from codeplan.sandbox.protocol.progress import OutputChunk, Progress, StepEntry

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "host.sandbox": (
            "Sandbox",
            "layers",
        ),
        "language.extraction": ("extract",),
        "limits": ("Limits",),
        "protocol.codec": (
            "decode",
            "encode",
        ),
        "protocol.decoder": ("CheckpointError",),
        "protocol.layers": ("Layer",),
        "protocol.progress": (
            "Printed",
            "Progress",
            "StepEntered",
        ),
    },
)

__all__ = [
    "CheckpointError",
    "Layer",
    "Limits",
    "OutputChunk",
    "Progress",
    "Sandbox",
    "StepEntry",
    "decode",
    "encode",
    "extract_plan",
    "probe_layers",
]
