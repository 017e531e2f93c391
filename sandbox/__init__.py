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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if not __name__.startswith("codeplan."):
    raise ImportError("import codeplan.sandbox, not sandbox: a second copy of this package would be loaded")

# At once, not when first used: the function has its module's name, and must be bound after the module is.
from codeplan.sandbox.language.extract import extract

if TYPE_CHECKING:
    from codeplan.sandbox.cage.lockdown import Layer
    from codeplan.sandbox.codec import CheckpointError, decode, encode
    from codeplan.sandbox.limits import Limits
    from codeplan.sandbox.progress import Printed, Progress, StepEntered
    from codeplan.sandbox.run import Sandbox, layers

_HOME_OF = {
    "CheckpointError": "codec",
    "Layer": "cage.lockdown",
    "Limits": "limits",
    "Printed": "progress",
    "Progress": "progress",
    "Sandbox": "run",
    "StepEntered": "progress",
    "decode": "codec",
    "encode": "codec",
    "layers": "run",
}

__all__ = [
    "CheckpointError",
    "Layer",
    "Limits",
    "Printed",
    "Progress",
    "Sandbox",
    "StepEntered",
    "decode",
    "encode",
    "extract",
    "layers",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
