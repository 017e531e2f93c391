"""The sandbox checks and runs unreviewed plans.

    from codeplan.sandbox import Sandbox, extract

    sandbox = Sandbox()
    plan = sandbox.check(extract(reply), MyAgent)
    outcome = sandbox.run(plan, MyAgent(act), ask)

A worker process of its own parses, compiles and runs each plan. The operating system keeps that process from files,
network, other processes and the host's memory; the restricted plan language is a second wall inside it. A plan reaches
the agent's public methods and attributes, one function that asks a model, and nothing else. Every run ends as a value:
Finished, Failed, Stopped (at a limit) or Rejected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeplan.lazy import lazy_names

if TYPE_CHECKING:
    from codeplan.sandbox.host.backend import OutputChunk, Progress, StepEntry
    from codeplan.sandbox.language.extraction import extract
    from codeplan.sandbox.protocol.codec import CheckpointError, decode, encode
    from codeplan.sandbox.protocol.frames import Layer
    from codeplan.sandbox.protocol.limits import Limits
    from codeplan.sandbox.sandbox import BackendName, Sandbox, probe_layers

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "sandbox": "BackendName Sandbox probe_layers",
        "language.extraction": "extract",
        "protocol.limits": "Limits",
        "protocol.codec": "CheckpointError decode encode",
        "protocol.frames": "Layer",
        "host.backend": "OutputChunk Progress StepEntry",
    },
)

__all__ = [
    "BackendName",
    "CheckpointError",
    "Layer",
    "Limits",
    "OutputChunk",
    "Progress",
    "Sandbox",
    "StepEntry",
    "decode",
    "encode",
    "extract",
    "probe_layers",
]
